/** What a task stream draws of blocks that are narrower than a pixel. */

import { pixelColumns } from '../models/stream';

it('short tasks are drawn as high as the share of time that they take, not solid', () => {
  const blocks = Array.from({ length: 1000 }, (_, i) => i);
  const sleft = blocks.map(i => 99.5 + i / 10);
  const at = { sleft, sright: sleft.map(left => left + 0.022), sy: blocks.map(() => 20) };
  const columns = [...pixelColumns(blocks, { ...at, height: { get: () => 0.8 } })];
  expect(columns.map(column => column.sx)).toEqual(Array.from({ length: 100 }, (_, i) => 99.5 + i));
  expect(columns.reduce((sum, { height }) => sum + height, 0) / 100).toBeCloseTo(0.8 * 0.22);
});
