/** The plugin of the status bar. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IStatusBar } from '@jupyterlab/statusbar';
import { Signal } from '@lumino/signaling';

import type { IKnownDashboard } from '../dashboards/dashboards';
import { CommandIDs, NAMESPACE, PluginIDs } from '../tokens';
import { runCommand } from '../widgets/services';
import { statusItem } from '../widgets/status';
import { askDashboard, frontKernel, IShared } from './context';

export const statusPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.status,
  description: 'Shows the workers and tasks of Dask clusters in the status bar.',
  autoStart: true,
  requires: [IShared],
  optional: [IStatusBar],
  activate: addStatusItem
};

function addStatusItem(_: JupyterFrontEnd, shared: IShared, statusBar: IStatusBar | null): void {
  const { services, settings, notebooks } = shared;
  const { commands, dashboards, runs } = services;
  const changed = new Signal<object, void>({});
  const emit = (): void => changed.emit();
  runs.changed.connect(emit);
  /** Only those of the notebook in front tell of their runs: what is watched keeps a kernel awake. */
  const update = (): void => {
    const kernel = settings.showsStatus ? frontKernel(notebooks) : undefined;
    const own = dashboards.all.filter(one => kernel !== undefined && one.kernel_id === kernel);
    runs.watch(
      'status',
      own.map(({ id }) => id),
      'slowly'
    );
    emit();
  };
  dashboards.changed.connect(update);
  settings.changed.connect(update);
  notebooks?.currentChanged.connect(update);
  // With several clusters, that of the notebook in front, or one that is asked for.
  const open = async (plot: string, among: readonly IKnownDashboard[]): Promise<void> => {
    const found = await askDashboard(shared, undefined, among);
    if (found !== undefined) {
      runCommand(commands, CommandIDs.openPlot, { plot, dashboard: found.id });
    }
  };
  statusBar?.registerStatusItem(`${NAMESPACE}:status`, {
    item: statusItem({
      services,
      changed,
      inFront: all => {
        const kernel = frontKernel(notebooks);
        const own = all.filter(one => kernel !== undefined && one.kernel_id === kernel);
        return own.length > 0 ? own : all;
      },
      onWarning: (plot, among) => void open(plot, among)
    }),
    align: 'left',
    rank: 20,
    isActive: () => settings.showsStatus && dashboards.all.some(one => one.state === 'live'),
    activeStateChanged: changed
  });
}
