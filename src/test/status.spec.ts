import { Widget } from '@lumino/widgets';

import { statusItem } from '../widgets/status';
import { dashboard, DashboardList } from './dashboards';
import { services } from './services';

it('the status bar counts the failed tasks and dead workers of the notebook in front alone', async () => {
  const time = new Date(2026, 4, 5, 14, 2, 31).getTime() / 1000;
  const tasks = (erred: number): object => ({
    summary: {
      ...dashboard().summary!,
      tasks: { total: 50, done: 0, processing: 0, erred },
      losses: { workers: erred - 14, text: 'worker 2 died: no heartbeat', time }
    }
  });
  const opened: [string, string[]][] = [];
  const list = new DashboardList();
  const own = dashboard({ id: 'own', kernel_id: 'k1', ...tasks(16) });
  list.set(own, dashboard({ id: 'other', kernel_id: 'k2', ...tasks(9) }));
  const item = statusItem({
    services: services(list),
    changed: list.changed,
    inFront: all => all.filter(one => one.kernel_id === 'k1'),
    onWarning: (plot, among) => opened.push([plot, among.map(({ id }) => id)])
  });
  Widget.attach(item, document.body);
  await item.renderPromise;
  expect(item.node.textContent).toContain('16 erred');
  expect(item.node.textContent).not.toContain('2 clusters');
  const died = [...item.node.querySelectorAll('button')].at(-1)!;
  expect([died.textContent, died.title]).toEqual([
    '2 workers died',
    '14:02:31 · worker 2 died: no heartbeat'
  ]);
  died.click();
  expect(opened).toEqual([['events', ['own']]]);
});
