/** Clusters in Lab's own places: the status bar, the Running panel, the command palette. */

import {
  ILabShell,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRunningSessionManagers } from '@jupyterlab/running';
import { IStatusBar } from '@jupyterlab/statusbar';
import { Signal } from '@lumino/signaling';

import type { IKnownDashboard } from '../api/dashboards';
import { CommandIDs, PluginIDs } from '../tokens';
import { diagIcon } from '../widgets/icons';
import { IPlotServices } from '../widgets/services';
import { statusItem } from '../widgets/status';
import { askDashboard } from './ask';
import { IPanes, type PaneList } from './panelist';
import { IPreferences } from './services';

export const statusPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.status,
  description: 'Dask clusters in the status bar and among what is running.',
  autoStart: true,
  requires: [IPlotServices, IPreferences, IPanes],
  optional: [IStatusBar, IRunningSessionManagers, INotebookTracker],
  activate: (
    { commands }: JupyterFrontEnd,
    services: IPlotServices,
    preferences: IPreferences,
    panes: PaneList,
    statusBar: IStatusBar | null,
    running: IRunningSessionManagers | null,
    notebooks: INotebookTracker | null
  ): void => {
    const { dashboards, trans } = services;
    const changed = new Signal<object, void>({});
    dashboards.changed.connect(() => changed.emit());
    preferences.changed.connect(() => changed.emit());
    panes.tracker.widgetAdded.connect((_, pane) => {
      changed.emit();
      pane.disposed.connect(() => changed.emit());
    });
    // With several clusters, that of the notebook in front, or one that is asked for.
    const onErred = async (erred: readonly IKnownDashboard[]): Promise<void> => {
      const found = await askDashboard(services, undefined, notebooks, erred);
      if (found !== undefined) {
        const args = { plot: 'exceptions', dashboard: found.id };
        await commands.execute(CommandIDs.openPlot, args);
      }
    };
    statusBar?.registerStatusItem(PluginIDs.status, {
      item: statusItem({
        dashboards,
        trans,
        onClick: () => void commands.execute(CommandIDs.showSidebar),
        onErred: erred => void onErred(erred)
      }),
      align: 'left',
      rank: 20,
      isActive: () => preferences.showsStatus && dashboards.all.some(one => one.state === 'live'),
      activeStateChanged: changed
    });
    const close = ({ id }: IKnownDashboard): void => panes.of(id).forEach(pane => pane.dispose());
    running?.add({
      name: trans.__('Dask clusters'),
      running: () =>
        dashboards.all.map(one => ({
          label: () => one.shownName,
          labelTitle: () => one.scheduler.address,
          detail: () => {
            const { length } = panes.of(one.id);
            return length === 0 ? '' : trans._n('%1 plot open', '%1 plots open', length);
          },
          icon: () => diagIcon,
          open: () => void commands.execute(CommandIDs.openLayout, { dashboard: one.id }),
          shutdown: () => close(one)
        })),
      refreshRunning: () => changed.emit(),
      runningChanged: changed,
      shutdownAll: () => dashboards.all.forEach(close),
      shutdownLabel: trans.__('Close its plots'),
      shutdownAllLabel: trans.__('Close All Plots'),
      shutdownAllConfirmationText: () => trans.__('Close all Dask plots? The clusters go on.')
    });
  }
};

export const palettePlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.palette,
  description: 'Dask diagnostics in the command palette.',
  autoStart: true,
  requires: [ICommandPalette, IPlotServices],
  optional: [ILabShell],
  activate: (
    _: JupyterFrontEnd,
    palette: ICommandPalette,
    { dashboards, trans }: IPlotServices,
    labShell: ILabShell | null
  ): void => {
    const category = trans.__('Dask');
    // The repr button's command is another spelling of “open the usual four”, and Notebook 7 lists
    // each sidebar by itself.
    const hidden: readonly string[] = [
      CommandIDs.reprButton,
      ...(labShell === null ? [CommandIDs.showSidebar] : [])
    ];
    for (const command of Object.values(CommandIDs).filter(id => !hidden.includes(id))) {
      palette.addItem({ command, category });
    }
    const listed = new Set<string>();
    const listPlots = (): void => {
      for (const { name } of dashboards.all.flatMap(dashboard => dashboard.plots)) {
        if (!listed.has(name)) {
          listed.add(name);
          palette.addItem({ command: CommandIDs.openPlot, category, args: { plot: name } });
        }
      }
    };
    dashboards.changed.connect(listPlots);
    listPlots();
  }
};
