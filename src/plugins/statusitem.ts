/** Shows the clusters' state in the status bar, where there is one and the user wants it. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IStatusBar } from '@jupyterlab/statusbar';
import { Signal } from '@lumino/signaling';

import { IPreferences } from '../model/preferences';
import { CommandIDs, PluginIDs } from '../tokens';
import { IPlotServices } from '../widgets/services';
import { StatusItem } from '../widgets/statusitem';

export const statusItemPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.statusItem,
  description: 'Dask workers in the status bar.',
  autoStart: true,
  requires: [IPlotServices, IPreferences],
  optional: [IStatusBar],
  activate: (
    app: JupyterFrontEnd,
    services: IPlotServices,
    preferences: IPreferences,
    statusBar: IStatusBar | null
  ): void => {
    const item = new StatusItem(services, () => void app.commands.execute(CommandIDs.showSidebar));
    const { dashboards } = services;
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
