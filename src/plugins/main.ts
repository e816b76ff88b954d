/** The plugins: the list of dashboards, which others may use, and all that one sees of it. */

import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, IThemeManager, type ISessionContext } from '@jupyterlab/apputils';
import { IConsoleTracker } from '@jupyterlab/console';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { IRunningSessionManagers } from '@jupyterlab/running';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { IStateDB } from '@jupyterlab/statedb';
import { IStatusBar } from '@jupyterlab/statusbar';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { KernelChannels } from '../api/channel';
import { DashboardsModel, IDashboards } from '../api/dashboards';
import { Server } from '../api/server';
import { CommandIDs, PluginIDs, TRANSLATION_DOMAIN } from '../tokens';
import type { IContext } from './context';
import { addLayoutCommands } from './layouts';
import { addLinkCommands, addListCommands } from './links';
import { addNotebookCommands, addOutputs } from './notebooks';
import { PaneList } from './panelist';
import { addClusterCommands, addOpenCommand, addPaneCommands } from './panes';
import { plotServices, Preferences } from './services';
import { addSidebar } from './sidebar';
import { addRunning, addStatusItem, addToPalette } from './status';

export const dashboardsPlugin: JupyterFrontEndPlugin<IDashboards> = {
  id: PluginIDs.dashboards,
  description: 'Knows the Dask dashboards behind this Jupyter server.',
  autoStart: true,
  optional: [ITranslator, INotebookTracker, IConsoleTracker],
  provides: IDashboards,
  activate: (
    app: JupyterFrontEnd,
    translator: ITranslator | null,
    notebooks: INotebookTracker | null,
    consoles: IConsoleTracker | null
  ): IDashboards => {
    const { serverSettings, sessions } = app.serviceManager;
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const channels = new KernelChannels(trans);
    const follow = (_: unknown, { sessionContext }: { sessionContext: ISessionContext }): void => {
      sessionContext.kernelChanged.connect(
        (_, { newValue }) => newValue && channels.follow(newValue)
      );
    };
    notebooks?.widgetAdded.connect(follow);
    consoles?.widgetAdded.connect(follow);
    return new DashboardsModel(new Server(serverSettings, trans), sessions, channels);
  }
};

export const diagnosticsPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.preferences,
  description: 'Live plots of Dask clusters: a sidebar, panes, plots in notebooks, commands.',
  autoStart: true,
  requires: [IDashboards],
  optional: [
    ITranslator,
    IThemeManager,
    ISettingRegistry,
    ILabShell,
    ILayoutRestorer,
    IStateDB,
    INotebookTracker,
    IRenderMimeRegistry,
    IStatusBar,
    IRunningSessionManagers,
    ICommandPalette
  ],
  activate: (
    app: JupyterFrontEnd,
    dashboards: IDashboards,
    translator: ITranslator | null,
    themes: IThemeManager | null,
    registry: ISettingRegistry | null,
    labShell: ILabShell | null,
    restorer: ILayoutRestorer | null,
    state: IStateDB | null,
    notebooks: INotebookTracker | null,
    rendermime: IRenderMimeRegistry | null,
    statusBar: IStatusBar | null,
    running: IRunningSessionManagers | null,
    palette: ICommandPalette | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const preferences = new Preferences(registry);
    const services = plotServices(app, dashboards, preferences, themes, trans);
    const panes = new PaneList(app, services, labShell, notebooks);
    const context: IContext = { app, services, preferences, panes, notebooks };
    addOpenCommand(context);
    addClusterCommands(context);
    addPaneCommands(context);
    addLayoutCommands(context);
    addLinkCommands(context);
    addListCommands(context);
    addNotebookCommands(context);
    addSidebar(context, restorer, state);
    addOutputs(context, rendermime);
    addStatusItem(context, statusBar);
    addRunning(context, running);
    // The repr button's command is another spelling of “open the usual four”, and Notebook 7 lists
    // each sidebar by itself.
    const hidden = [CommandIDs.reprButton, ...(labShell === null ? [CommandIDs.showSidebar] : [])];
    addToPalette(context, palette, hidden);
    void restorer?.restore(panes.tracker, {
      command: CommandIDs.openPlot,
      args: ({ content: { plot, binding, arguments: given }, key }) => {
        return { plot, key, binding: { ...binding }, arguments: { ...given } };
      },
      name: pane => pane.key,
      when: app.serviceManager.ready
    });
  }
};
