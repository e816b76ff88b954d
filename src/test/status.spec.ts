import { Widget } from '@lumino/widgets';

import { statusItem } from '../widgets/status';
import { dashboard, DashboardList, trans } from './dashboards';

it('the status bar counts the tasks of the notebook in front alone', async () => {
  const tasks = (erred: number): object => ({
    summary: {
      ...dashboard().summary!,
      tasks: { total: 50, done: 0, processing: 0, erred }
    }
  });
  const list = new DashboardList();
  const own = dashboard({ id: 'own', kernel_id: 'k1', ...tasks(16) });
  list.set(own, dashboard({ id: 'other', kernel_id: 'k2', ...tasks(9) }));
  const item = statusItem({
    dashboards: list,
    changed: list.changed,
    inFront: all => all.filter(one => one.kernel_id === 'k1'),
    trans,
    onClick: () => undefined,
    onErred: () => undefined
  });
  Widget.attach(item, document.body);
  await item.renderPromise;
  expect(item.node.textContent).toContain('16 erred');
  expect(item.node.textContent).not.toContain('2 clusters');
});
