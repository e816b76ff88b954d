import { clusterFor, clustersOf, tagOf } from '../plot/clusters';
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

  it('follows the newest live cluster of its kernel once its own has ended', () => {
    expect(clusterFor(ORIGIN, [stale, sibling, newer, restarted])).toBe(newer);
    expect(clusterFor(ORIGIN, [newer, { ...sibling, state: 'unreachable' }])).toBe(newer);
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

it('a cluster has the same letter and colour everywhere', () => {
  expect(tagOf('3f6f0f1c')).toEqual(tagOf('3f6f0f1c'));
  const tags = Array.from({ length: 40 }, (_, i) => JSON.stringify(tagOf(`cluster-${i}`)));
  expect(new Set(tags).size).toBeGreaterThan(25);
});
