/** Which rows a bar chart has: each, like ones together, those of a host, or the largest. */

import { arrange, withoutCommonStart, type IArrangement } from '../models/barrows';

const five: IArrangement = {
  sizes: [3, 9, 1, 7, 5],
  names: ['b', 'a10', 'c', 'a2', 'd'],
  hosts: ['x', 'y', 'x', 'y', 'x'],
  fits: 10,
  merging: 'auto',
  order: 'own',
  merges: 'mean'
};

it('keeps the order of the rows while all fit', () => {
  expect(arrange(five)).toEqual({ rows: [[0], [1], [2], [3], [4]], kind: 'each', isSorted: false });
});

it('puts like rows together where not all fit', () => {
  expect(arrange({ ...five, fits: 2 })).toEqual({
    rows: [
      [1, 3, 4],
      [0, 2]
    ],
    kind: 'alike',
    isSorted: true
  });
});

it('sorts rows that are scrolled', () => {
  const each = { ...five, fits: 2, merging: 'each' } as const;
  expect(arrange(each).rows.flat()).toEqual([1, 3, 4, 0, 2]);
});

it('leaves the order to the kernel where rows are never put together', () => {
  const found = arrange({ ...five, fits: 2, merges: 'none' });
  expect([found.rows.flat(), found.isSorted]).toEqual([[0, 1, 2, 3, 4], false]);
});

it('puts the rows of a host together, and does without where there is one host', () => {
  const found = arrange({ ...five, merging: 'host' });
  expect([found.kind, found.rows]).toEqual([
    'host',
    [
      [1, 3],
      [4, 0, 2]
    ]
  ]);
  expect(arrange({ ...five, merging: 'host', hosts: ['x', 'x', 'x', 'x', 'x'] }).kind).toBe('each');
});

it('puts the smallest rows into one bar, and orders by name in a natural way', () => {
  const sums = { ...five, merges: 'sum', order: 'size' } as const;
  expect(arrange({ ...sums, fits: 3 })).toMatchObject({
    rows: [[1], [3], [4, 0, 2]],
    kind: 'rest'
  });
  expect(arrange({ ...sums, order: 'name' }).rows.flat()).toEqual([3, 1, 0, 2, 4]);
  expect(arrange({ ...sums, fits: 3, order: 'name' }).rows).toEqual([[3], [1], [4, 0, 2]]);
});

it('counts what is not known as nothing', () => {
  const found = arrange({ ...five, sizes: [NaN, 9, 1, 7, 5], merging: 'each', fits: 2 });
  expect(found.rows.flat()).toEqual([1, 3, 4, 2, 0]);
});

it.each([
  [
    ['SLURMCluster-9', 'SLURMCluster-10'],
    ['9', '10']
  ],
  [
    ['10.0.0.1:4001', '10.0.0.1:4023'],
    ['4001', '4023']
  ],
  [
    ['worker 1', 'worker 10'],
    ['1', '10']
  ],
  [['the-only-worker'], ['the-only-worker']],
  [
    ['a', 'b'],
    ['a', 'b']
  ],
  [[], []]
])('leaves out what begins all of %j', (names, short) => {
  expect(withoutCommonStart(names)).toEqual(short);
});
