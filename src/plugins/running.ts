/** The plugin of the Running panel: the clusters. */

import { IRunningSessionManagers } from '@jupyterlab/running';

import { clustersOf } from '../dashboards/clusters';
import { CommandIDs } from '../tokens';
import { bindingOf } from '../widgets/binding';
import { diagIcon } from '../widgets/icons';
import { runCommand } from '../widgets/services';
import { addOn, type IContext } from './context';

export const runningPlugin = addOn(
  'running',
  'Lists Dask clusters among what is running.',
  [IRunningSessionManagers],
  addRunning
);

function addRunning({ services, panes }: IContext, running: IRunningSessionManagers | null): void {
  const { commands, dashboards, trans } = services;
  running?.add({
    name: trans.__('Dask clusters'),
    running: () =>
      clustersOf(dashboards.all).map(one => ({
        label: () => one.shownName,
        labelTitle: () => one.scheduler.address,
        icon: () => diagIcon,
        open: () => runCommand(commands, CommandIDs.openLayout, { dashboard: one.id }),
        shutdown: () => panes?.closeAll(bindingOf(one))
      })),
    refreshRunning: () => undefined,
    runningChanged: dashboards.changed,
    shutdownAll: () => dashboards.all.forEach(one => panes?.closeAll(bindingOf(one))),
    shutdownLabel: trans.__('Close its plots'),
    shutdownAllLabel: trans.__('Close All Plots'),
    shutdownAllConfirmationText: () => trans.__('Close all Dask plots? The clusters go on.')
  });
}
