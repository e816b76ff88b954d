/** Which rows a bar chart has: each, like ones together, those of a host, or the largest. */

import { arrange, type IArrangement } from '../models/barrows';

const five: IArrangement = {
  sizes: [3, 9, NaN, 7, 5],
  names: ['b', 'a10', 'c', 'a2', 'd'],
  hosts: ['x', 'y', 'x', 'y', 'x'],
  fits: 10,
  merging: 'auto',
  order: 'own',
  merges: 'mean'
};
const each = (...rows: number[]): number[][] => rows.map(row => [row]);

it.each<[string, Partial<IArrangement>, readonly (readonly number[])[], string, boolean]>([
  ['the order of the rows while all fit', {}, each(0, 1, 2, 3, 4), 'each', false],
  ['an order by size', { order: 'size' }, each(1, 3, 4, 0, 2), 'each', false],
  ['names in a natural order', { order: 'name' }, each(3, 1, 0, 2, 4), 'each', false],
  [
    'groups of like rows where not all fit',
    { fits: 2 },
    [
      [1, 3, 4],
      [0, 2]
    ],
    'alike',
    true
  ],
  [
    'rows by size that are scrolled',
    { fits: 2, merging: 'each' },
    each(1, 3, 4, 0, 2),
    'each',
    true
  ],
  [
    'the order of the kernel where rows are never put together',
    { fits: 2, merges: 'none' },
    each(0, 1, 2, 3, 4),
    'each',
    false
  ],
  [
    'a row for each host',
    { merging: 'host' },
    [
      [1, 3],
      [4, 0, 2]
    ],
    'host',
    true
  ],
  [
    'the smallest rows in one bar',
    { fits: 3, merges: 'sum', order: 'size' },
    [...each(1, 3), [4, 0, 2]],
    'rest',
    false
  ],
  [
    'the smallest rows in one bar, below names in order',
    { fits: 3, merges: 'sum', order: 'name' },
    [...each(3, 1), [4, 0, 2]],
    'rest',
    false
  ]
])('has %s', (_, given, rows, kind, isSorted) => {
  expect(arrange({ ...five, ...given })).toEqual({ rows, kind, isSorted });
});
