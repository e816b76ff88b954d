/** Shows the clusters' state in the status bar, where there is one and the user wants it. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IStatusBar } from '@jupyterlab/statusbar';
import { Signal } from '@lumino/signaling';

import type { IKnownDashboard } from '../model/dashboards';
import { IPreferences } from '../model/preferences';
import { CommandIDs, PluginIDs } from '../tokens';
import { IPlotServices } from '../widgets/services';
import { StatusItem } from '../widgets/statusitem';
import { askDashboard, frontKernel } from './ask';

export const statusItemPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.statusItem,
  description: 'Dask workers in the status bar.',
  autoStart: true,
  requires: [IPlotServices, IPreferences],
  optional: [IStatusBar, INotebookTracker],
  activate: (
    app: JupyterFrontEnd,
    services: IPlotServices,
    preferences: IPreferences,
    statusBar: IStatusBar | null,
    notebooks: INotebookTracker | null
  ): void => {
    const { commands } = app;
    const { dashboards } = services;
    const item = new StatusItem(
      services,
      () => void commands.execute(CommandIDs.showSidebar),
      erred => void showExceptions(app, services, notebooks, erred)
    );
    const changed = new Signal<StatusItem, void>(item);
    dashboards.changed.connect(() => changed.emit());
    preferences.changed.connect(() => changed.emit());
    statusBar?.registerStatusItem(PluginIDs.statusItem, {
      item,
      align: 'left',
      rank: 20,
      isActive: () => preferences.showsStatus && dashboards.all.some(one => one.state === 'live'),
      activeStateChanged: changed
    });
  }
};

/**
 * Open the failures of one of the dashboards that have some: that of the notebook in front if it is
 * among them, or the only one; else the user is asked for one of them.
 */
async function showExceptions(
  { commands }: JupyterFrontEnd,
  { dashboards, trans }: IPlotServices,
  notebooks: INotebookTracker | null,
  erred: readonly IKnownDashboard[]
): Promise<void> {
  const among = { all: erred, get: (id: string) => dashboards.get(id) };
  const found = await askDashboard(among, trans, undefined, frontKernel(notebooks));
  if (found !== undefined) {
    await commands.execute(CommandIDs.openPlot, { plot: 'exceptions', dashboard: found.id });
  }
}
