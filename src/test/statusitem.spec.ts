/** What the status bar says of one cluster and of several. */

import { StatusItem } from '../widgets/statusitem';
import { DashboardList, known, trans } from './dashboards';

describe('the status bar', () => {
  const { summary } = known();
  const cluster = (id: string, workers: number, processing: number): ReturnType<typeof known> => {
    const tasks = { ...summary!.tasks, processing };
    return known({ id, shownName: `${id}.ipynb`, summary: { ...summary!, workers, tasks } });
  };

  it('adds up all clusters, and says so with a line for each', () => {
    const dashboards = new DashboardList();
    const item = new StatusItem({ dashboards, trans }, () => undefined);
    const title = (): string => item.node.querySelector('button')?.title ?? '';
    expect(item.node.hidden).toBe(true);
    dashboards.set(cluster('a', 4, 7));
    expect(title()).toBe('1 Dask cluster\na.ipynb: 4 workers · 7 processing');
    dashboards.set(cluster('a', 4, 7), cluster('b', 1, 2), known({ id: 'old', state: 'stale' }));
    expect(item.node.textContent).toBe('5 workers · 9 processing');
    expect(title().split('\n')).toEqual([
      '2 Dask clusters together',
      'a.ipynb: 4 workers · 7 processing',
      'b.ipynb: 1 worker · 2 processing'
    ]);
    item.dispose();
  });
});
