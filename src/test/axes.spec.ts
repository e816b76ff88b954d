/** Labels of axes: none is missing among its neighbours. */

import { axisModels } from '../models/axes';

interface IPolicy {
  min_distance: number;
  filter(
    indices: Iterable<number>,
    boxes: unknown,
    distance: (i: number, j: number) => number
  ): void;
}

/** What stays of labels that are so wide and so far apart. */
function labelled(widths: readonly number[], apart: number): readonly number[] {
  const Model = Object.assign(class extends Object {}, { define: () => undefined });
  const library = { require: () => new Proxy({}, { get: () => Model }) };
  const found = axisModels(library).find(one => one.__qualified__.endsWith('.EvenLabels'));
  const policy = new (found as unknown as new () => IPolicy)();
  policy.min_distance = 6;
  const indices = new Set(widths.keys());
  const kept = Object.assign(indices, { unset: (index: number) => indices.delete(index) });
  policy.filter(kept, [], (i, j) => (j - i) * apart - (widths[i]! + widths[j]!) / 2);
  return [...kept];
}

it('labels each tick where there is room, else every second or third', () => {
  const widths = [10, 10, 10, 10, 10, 20, 20]; // 0 2 4 6 8 10 12
  expect(labelled(widths, 30)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(labelled(widths, 20)).toEqual([0, 2, 4, 6]);
  expect(labelled(widths, 8)).toEqual([0, 3, 6]);
  expect(labelled(widths, 1)).toEqual([0]);
});
