import { clusterFor, clustersOf, peersOf, tagsOf } from '../dashboards/clusters';
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
    expect(clusterFor(ORIGIN, [stale, restarted, newer])).toBe(newer);
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
    expect(clusterFor(ORIGIN, [stale, restarted, other])).toBe(restarted);
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

it('clusters differ in letters of their names and in colours, and keep both while they are there', () => {
  const names = ['train', 'test', 'a.ipynb', 'a.ipynb (2)', 'load', 'x'];
  const clusters = names.map((name, i) => ({ id: `cluster-${i}`, name, state: 'live' }));
  const tags = tagsOf(clusters);
  expect([...tags.values()].map(({ letter }) => letter)).toEqual(['T', 'TE', 'A', 'A2', 'L', 'X']);
  expect(new Set([...tags.values()].map(({ color }) => color)).size).toBe(6);
  const later = tagsOf([...clusters.slice(1), { id: 'new', name: 'other', state: 'live' }], tags);
  expect(later.get('cluster-5')).toEqual(tags.get('cluster-5'));
  const colors = [...later].filter(([id]) => id !== 'cluster-0').map(([, { color }]) => color);
  expect(new Set(colors).size).toBe(6);
});

it('clusters that come back after a restart of their kernel have the tags of before', () => {
  const [a, b, lone] = ['train', 'test', 'a.ipynb'].map(name => ({
    id: name,
    name,
    state: 'live'
  }));
  const tags = tagsOf([a!, b!, lone!]);
  const [a2, b2] = [a!, b!].map(one => ({ ...one, id: `${one.id} anew` }));
  const back = tagsOf([lone!, b2!, a2!], tagsOf([lone!], tags));
  expect([back.get(a2!.id), back.get(b2!.id)]).toEqual([tags.get(a!.id), tags.get(b!.id)]);
  // While panes still show the one that has ended.
  const lone2 = { ...lone!, id: 'anew' };
  const beside = tagsOf([{ id: lone!.id, name: '', state: 'stale' }, lone2], tags);
  expect(beside.get('anew')).toEqual(tags.get(lone!.id));
});
