/** Clusters in Lab's own places: the status bar, the Running panel, the command palette. */

import type { ICommandPalette } from '@jupyterlab/apputils';
import type { IRunningSessionManagers } from '@jupyterlab/running';
import type { IStatusBar } from '@jupyterlab/statusbar';
import { Signal } from '@lumino/signaling';

import type { IKnownDashboard } from '../api/dashboards';
import { clustersOf } from '../plot/clusters';
import { CommandIDs, NAMESPACE } from '../tokens';
import { diagIcon } from '../widgets/icons';
import { bindingOf } from '../widgets/plotwidget';
import { statusItem } from '../widgets/status';
import { askDashboard, frontKernel, type IContext } from './context';

export function addStatusItem(context: IContext, statusBar: IStatusBar | null): void {
  const { commands } = context.app;
  const { dashboards, trans } = context.services;
  const changed = new Signal<object, void>({});
  dashboards.changed.connect(() => changed.emit());
  context.preferences.changed.connect(() => changed.emit());
  context.notebooks?.currentChanged.connect(() => changed.emit());
  // With several clusters, that of the notebook in front, or one that is asked for.
  const open = async (plot: string, among: readonly IKnownDashboard[]): Promise<void> => {
    const found = await askDashboard(context, undefined, among);
    if (found !== undefined) {
      await commands.execute(CommandIDs.openPlot, { plot, dashboard: found.id });
    }
  };
  statusBar?.registerStatusItem(`${NAMESPACE}:status`, {
    item: statusItem({
      dashboards,
      changed,
      inFront: all => {
        const kernel = frontKernel(context.notebooks);
        const own = all.filter(one => kernel !== undefined && one.kernel_id === kernel);
        return own.length > 0 ? own : all;
      },
      trans,
      onClick: () => void commands.execute(CommandIDs.showSidebar),
      onWarning: (plot, among) => void open(plot, among)
    }),
    align: 'left',
    rank: 20,
    isActive: () =>
      context.preferences.showsStatus && dashboards.all.some(one => one.state === 'live'),
    activeStateChanged: changed
  });
}

export function addRunning(context: IContext, running: IRunningSessionManagers | null): void {
  const { app, panes, services } = context;
  const { dashboards, trans } = services;
  const changed = new Signal<object, void>({});
  dashboards.changed.connect(() => changed.emit());
  panes.tracker.widgetAdded.connect((_, pane) => {
    changed.emit();
    pane.disposed.connect(() => changed.emit());
  });
  running?.add({
    name: trans.__('Dask clusters'),
    running: () =>
      clustersOf(dashboards.all).map(one => ({
        label: () => one.shownName,
        labelTitle: () => one.scheduler.address,
        detail: () => {
          const { length } = panes.ofCluster(bindingOf(one));
          return length === 0 ? '' : trans._n('%1 plot open', '%1 plots open', length);
        },
        icon: () => diagIcon,
        open: () => void app.commands.execute(CommandIDs.openLayout, { dashboard: one.id }),
        shutdown: () => panes.closeAll(bindingOf(one))
      })),
    refreshRunning: () => changed.emit(),
    runningChanged: changed,
    shutdownAll: () => dashboards.all.forEach(one => panes.closeAll(bindingOf(one))),
    shutdownLabel: trans.__('Close its plots'),
    shutdownAllLabel: trans.__('Close All Plots'),
    shutdownAllConfirmationText: () => trans.__('Close all Dask plots? The clusters go on.')
  });
}

/** @param hidden - commands that have another spelling in this application. */
export function addToPalette(
  { services: { dashboards, trans } }: IContext,
  palette: ICommandPalette | null,
  hidden: readonly string[]
): void {
  const category = trans.__('Dask');
  for (const command of Object.values(CommandIDs).filter(id => !hidden.includes(id))) {
    palette?.addItem({ command, category });
  }
  const listed = new Set<string>();
  const listPlots = (): void => {
    for (const { name } of dashboards.all.flatMap(dashboard => dashboard.plots)) {
      if (!listed.has(name)) {
        listed.add(name);
        palette?.addItem({ command: CommandIDs.openPlot, category, args: { plot: name } });
      }
    }
  };
  dashboards.changed.connect(listPlots);
  listPlots();
}
