/** A dashboard's own pages: in a browser tab, as a link to pass on, or added by its address. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Clipboard, InputDialog } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import type { CommandRegistry } from '@lumino/commands';

import { Server } from '../api/server';
import type { IKnownDashboard } from '../model/dashboards';
import { CommandIDs, PluginIDs } from '../tokens';
import { IPlotServices } from '../widgets/services';
import { DASHBOARD_ARG, describe, textArg } from './args';
import { askDashboard, frontKernel, tell } from './ask';
import { IPanes } from './ipanes';

export const linksPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.links,
  description: 'Opens Dask dashboards in browser tabs, through Jupyter.',
  autoStart: true,
  requires: [IPlotServices, IPanes],
  optional: [INotebookTracker],
  activate: (
    app: JupyterFrontEnd,
    { dashboards, trans }: IPlotServices,
    panes: IPanes,
    notebooks: INotebookTracker | null
  ): void => {
    const server = new Server(app.serviceManager.serverSettings);
    const withDashboard = (
      run: (dashboard: IKnownDashboard) => void
    ): Pick<CommandRegistry.ICommandOptions, 'describedBy' | 'execute'> => ({
      describedBy: describe(DASHBOARD_ARG),
      execute: async args => {
        const id = textArg(args, 'dashboard');
        const found = await askDashboard(dashboards, trans, id, frontKernel(notebooks));
        if (found !== undefined) {
          run(found);
        }
      }
    });
    const statusUrl = ({ id }: IKnownDashboard): string => server.relayUrl(id, 'status');
    app.commands.addCommand(CommandIDs.openStatus, {
      label: trans.__('Open status page in browser tab'),
      ...withDashboard(found => void window.open(statusUrl(found), '_blank', 'noopener'))
    });
    app.commands.addCommand(CommandIDs.copyLink, {
      label: trans.__('Copy link to the status page'),
      ...withDashboard(found => Clipboard.copyToSystem(statusUrl(found)))
    });
    app.commands.addCommand(CommandIDs.openInBrowser, {
      label: trans.__('Open the plot in front in a browser tab'),
      describedBy: describe(),
      isEnabled: () => panes.current !== null,
      execute: () => panes.current?.openInBrowser()
    });
    addByAddress(app, server, trans);
  }
};

function addByAddress(app: JupyterFrontEnd, server: Server, trans: IPlotServices['trans']): void {
  app.commands.addCommand(CommandIDs.addDashboard, {
    label: trans.__('Add a dashboard by its address…'),
    describedBy: describe({
      url: { type: 'string', description: 'Address of a dashboard; asked for when left out.' }
    }),
    execute: async args => {
      const url = textArg(args, 'url') ?? (await askAddress(trans));
      if (url === null || url === '') {
        return;
      }
      try {
        await server.addDashboard(url);
      } catch (reason) {
        tell(reason instanceof Error ? reason.message : String(reason));
      }
    }
  });
}

async function askAddress(trans: IPlotServices['trans']): Promise<string | null> {
  const { value } = await InputDialog.getText({
    title: trans.__('Address of the dashboard'),
    placeholder: 'http://127.0.0.1:8787/status'
  });
  return value;
}
