import { clusterFor, ClusterTags, clustersOf, peersOf } from '../dashboards/clusters';
import { dashboard, stock } from './dashboards';

const ORIGIN = { dashboard: 'own', kernel: 'k1', notebook: 'a.ipynb' };
const own = dashboard({ id: 'own', kernel_id: 'k1', notebook: 'a.ipynb' });
const sibling = { ...own, id: 'sibling' };
const newer = { ...own, id: 'newer' };
const restarted = { ...own, id: 'restarted', kernel_id: 'k2' };
const other = { ...own, id: 'other', kernel_id: 'k3', notebook: 'b.ipynb' };
const stale = { ...own, state: 'stale' as const };

describe('a plot', () => {
  it('stays with its cluster while that lives, also when it does not answer', () => {
    expect(clusterFor(ORIGIN, [own, newer])).toBe(own);
    const silent = { ...own, state: 'unreachable' as const };
    expect(clusterFor(ORIGIN, [silent, newer])).toBe(silent);
  });

  it('goes on with the new cluster of its kernel once its own has ended', () => {
    const followed = { ...ORIGIN, peers: peersOf(ORIGIN, own, [own]) };
    expect(clusterFor(followed, [stale, restarted, newer])).toBe(newer);
  });

  it('of a cluster that had ended when it was opened shows that', () => {
    expect(clusterFor(ORIGIN, [stale, sibling])).toBe(stale);
    const beside = { ...ORIGIN, peers: peersOf(ORIGIN, stale, [stale, sibling]) };
    expect(clusterFor(beside, [stale, sibling])).toBe(stale);
    expect(clusterFor(beside, [stale, sibling, newer])).toBe(newer);
  });

  it('keeps its own where another one, which was there beside it, lives on', () => {
    const beside = { ...ORIGIN, peers: peersOf(ORIGIN, own, [own, sibling]) };
    expect(clusterFor(beside, [stale, sibling])).toBe(stale);
    expect(clusterFor(beside, [sibling])).toBeUndefined();
    expect(clusterFor(beside, [sibling, newer])).toBe(newer);
  });

  it('follows the one of its name, else the one in its place, once that is there', () => {
    const [a, b] = [own, { ...sibling, name: 'b' }];
    const [a2, b2] = [newer, { ...newer, id: 'b2', name: 'b' }];
    const [u2, v2] = [newer, { ...newer, id: 'v2' }];
    const named = { ...ORIGIN, peers: peersOf(ORIGIN, a, [b, a]) };
    expect(clusterFor(named, [b2])).toBeUndefined();
    expect(clusterFor(named, [b2, a2])).toBe(a2);
    const second = { ...ORIGIN, peers: peersOf(ORIGIN, own, [sibling, own]) };
    expect(clusterFor(second, [u2])).toBeUndefined();
    expect(clusterFor(second, [u2, v2])).toBe(v2);
    const renamed = { ...ORIGIN, peers: peersOf(ORIGIN, own, [own]) };
    expect(clusterFor(renamed, [b2])).toBe(b2);
  });

  it('follows the one of its cell where several have its name, in whatever order they come', () => {
    const of = (cell: string): { cell: string[] } => ({ cell: [cell, `a run of ${cell}`] });
    const [a, b] = [
      { ...own, ...of('a') },
      { ...sibling, ...of('b') }
    ];
    const [a2, b2, c2] = [
      { ...newer, ...of('a') },
      { ...newer, id: 'b2', ...of('b') },
      { ...newer, id: 'c2', ...of('c') }
    ];
    const first = { ...ORIGIN, peers: peersOf(ORIGIN, a, [a, b]) };
    const second = { ...first, dashboard: b.id };
    const followed = (...all: (typeof own)[]): unknown[] =>
      [first, second].map(one => clusterFor(one, all));
    expect(followed(b2)).toEqual([undefined, b2]);
    expect(followed(b2, a2)).toEqual([a2, b2]);
    expect(followed(b2, c2)).toEqual([c2, b2]); // a cell that was written anew
    const both = [newer, { ...newer, id: 'last' }].map(one => ({ ...one, ...of('a') }));
    expect(followed(...both)).toEqual(both); // two cells that have become one
  });

  it('keeps its place while the clusters of its kernel go one by one', () => {
    const second = { ...ORIGIN, peers: peersOf(ORIGIN, own, [sibling, own]) };
    const alone = { ...second, peers: peersOf(second, own, [own]) };
    expect(clusterFor(alone, [newer])).toBeUndefined();
    expect(clusterFor(alone, [newer, { ...newer, id: 'last' }])?.id).toBe('last');
  });

  it('goes on with what its cell has made anew, in order, unless that was there already', () => {
    const [a, b, c, d] = [
      { ...own, cell: ['cell', 'run 1'] },
      { ...sibling, cell: ['cell', 'run 1'] },
      { ...newer, cell: ['cell', 'run 2'] },
      { ...newer, id: 'newest', cell: ['cell', 'run 2'] }
    ] as const;
    const first = { ...ORIGIN, peers: peersOf(ORIGIN, a, [a, b]) };
    const second = { ...first, dashboard: b.id };
    expect(clusterFor(second, [a, b, c])).toBe(b);
    expect([first, second].map(one => clusterFor(one, [a, b, c, d]))).toEqual([c, d]);
    const elsewhere = { ...c, cell: ['another cell', 'run 2'] };
    expect(clusterFor(first, [a, b, elsewhere])).toBe(a);
    const chosen = { ...ORIGIN, peers: peersOf(ORIGIN, a, [a, b, c, d]) };
    expect(clusterFor(chosen, [a, b, c, d])).toBe(a);
    expect(clusterFor(ORIGIN, [a, b, c, d])).toBe(a); // a plot of it that is opened now
  });

  it('of Dask’s own dashboard goes on with one of these', () => {
    const origin = { ...ORIGIN, dashboard: 'gone', kind: 'stock' } as const;
    const next = stock({ kernel_id: 'k1' });
    expect(clusterFor(origin, [next, own])).toBe(next);
    expect(clusterFor(origin, [own])).toBeUndefined();
    expect(clusterFor({ ...ORIGIN, dashboard: 'gone' }, [next])).toBeUndefined();
  });

  it('else that of its notebook, after a new kernel', () => {
    const followed = { ...ORIGIN, peers: peersOf(ORIGIN, own, [own]) };
    expect(clusterFor(followed, [stale, restarted, other])).toBe(restarted);
  });

  it('shows the last of its own cluster while nobody comes after it', () => {
    expect(clusterFor(ORIGIN, [stale, other])).toBe(stale);
    expect(clusterFor(ORIGIN, [other])).toBeUndefined();
  });
});

it('Dask’s own dashboard of a cluster that has ours is no second cluster, nor is one that lacks ours', () => {
  const merged = stock({ shown_with: 'own' });
  const alone = stock({ id: 'alone', shown_with: 'gone' });
  expect(clustersOf([merged, own, alone])).toEqual([own, alone]);
});

type Named = Parameters<ClusterTags['update']>[0][number];

const named = (name: string): Named => ({ id: name, name });

it('clusters differ in letters of their names and in colours, and keep both while they are there', () => {
  const clusters = ['train', 'test', 'a.ipynb', 'a.ipynb (2)', 'load', 'x'].map(one => named(one));
  const tags = new ClusterTags();
  tags.update(clusters);
  const before = clusters.map(({ id }) => tags.get(id)!);
  expect(before.map(({ letter }) => letter)).toEqual(['T', 'TE', 'A', 'A2', 'L', 'X']);
  expect(new Set(before.map(({ color }) => color)).size).toBe(6);
  const later = [...clusters.slice(3), named('new')];
  tags.update(later);
  expect(tags.get('x')).toEqual(before[5]);
  expect(tags.get('train')).toBeUndefined();
  expect(new Set(later.map(({ id }) => tags.get(id)!.color)).size).toBe(4);
});
