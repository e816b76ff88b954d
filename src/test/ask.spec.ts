/** Asking which dashboard is meant while the list goes on changing. */

import { Notification } from '@jupyterlab/apputils';

import { askDashboard } from '../plugins/ask';
import type { IKnownDashboard } from '../model/dashboards';
import { DashboardList, known, trans } from './dashboards';
import { settled } from './plots';

describe('the question for a dashboard', () => {
  const [a, b, c] = ['a', 'b', 'c'].map(id => known({ id, kernel_id: id, shownName: id })) as [
    IKnownDashboard,
    IKnownDashboard,
    IKnownDashboard
  ];

  async function pick(
    name: string,
    meanwhile: readonly IKnownDashboard[]
  ): Promise<IKnownDashboard | undefined> {
    const dashboards = new DashboardList();
    dashboards.set(a, b);
    const asked = askDashboard(dashboards, trans, undefined, undefined);
    await settled();
    dashboards.set(...meanwhile);
    const dialog = document.querySelector('.jp-Dialog')!;
    dialog.querySelector('select')!.value = name;
    dialog.querySelector<HTMLElement>('.jp-mod-accept')!.click();
    return asked;
  }

  it('is answered by what was picked, whatever the list has become', async () => {
    expect((await pick('b', [c, a, b]))?.id).toBe('b');
    expect((await pick('a', [b, a]))?.id).toBe('a');
  });

  it('is answered by none when what was picked is gone', async () => {
    expect(await pick('a', [b, c])).toBeUndefined();
    const [last] = Notification.manager.notifications.slice(-1);
    expect(last?.message).toBe('The cluster of a is gone meanwhile.');
    Notification.dismiss();
  });
});
