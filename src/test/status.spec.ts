import { Widget } from '@lumino/widgets';

import type { IContext } from '../plugins/context';
import { statusItem } from '../plugins/status';
import { CommandIDs } from '../tokens';
import { dashboard, DashboardList, RUN } from './dashboards';
import { settled, until } from './plots';
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
  const opened: unknown[] = [];
  const list = new DashboardList();
  const own = dashboard({ id: 'own', kernel_id: 'k1', ...tasks(16) });
  list.set(own, dashboard({ id: 'other', kernel_id: 'k2', ...tasks(9) }));
  const given = services(list);
  given.commands.addCommand(CommandIDs.openPlot, { execute: args => void opened.push(args) });
  const front = { sessionContext: { session: { kernel: { id: 'k1' } } } };
  const context = { services: given, notebooks: { currentWidget: front } } as unknown as IContext; // all it asks for
  const item = statusItem(context, list.changed);
  Widget.attach(item, document.body);
  await until(() => item.node.textContent.includes('16 erred'));
  expect(item.node.textContent).not.toContain('2 clusters');
  const died = [...item.node.querySelectorAll('button')].at(-1)!;
  expect([died.textContent, died.title]).toEqual([
    '2 workers died',
    '14:02:31 · worker 2 died: no heartbeat'
  ]);
  died.click();
  await settled();
  expect(opened).toEqual([{ plot: 'events', dashboard: 'own' }]);

  jest.spyOn(given.runs, 'lastOf').mockReturnValue(RUN);
  const telling = (): boolean => item.node.textContent.includes('cell [12]');
  list.changed.emit();
  await until(telling);
  list.set({ ...own, state: 'stale', closed_at: 1 }); // as `with Client()` leaves it
  await until(() => !item.node.textContent.includes('worker'));
  expect(telling()).toBe(true);

  front.sessionContext.session.kernel.id = 'k3'; // of a notebook without a cluster
  list.changed.emit();
  await until(() => !telling());
});
