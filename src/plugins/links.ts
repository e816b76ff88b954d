/** A dashboard's own pages: in a browser tab, as a link to pass on, or added by its address. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Clipboard, InputDialog } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { Server } from '../api/server';
import type { IKnownDashboard } from '../model/dashboards';
import { CommandIDs, PAGES, PluginIDs } from '../tokens';
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
    const server = new Server(app.serviceManager.serverSettings, trans);
    const withDashboard: WithDashboard = run => ({
      describedBy: describe({ ...DASHBOARD_ARG, ...PAGE_ARG }),
      execute: async args => {
        const id = textArg(args, 'dashboard');
        const found = await askDashboard(dashboards, trans, id, frontKernel(notebooks));
        if (found !== undefined) {
          await run(found, args);
        }
      }
    });
    addPages(app, server, trans, withDashboard);
    app.commands.addCommand(CommandIDs.openInBrowser, {
      label: trans.__('Open the plot in front in a browser tab'),
      describedBy: describe(),
      isEnabled: () => panes.current !== null,
      execute: () => panes.current?.openInBrowser()
    });
    addByAddress(app, server, trans);
  }
};

/** Makes a command act on a dashboard: the one named, or one that is asked for. */
type WithDashboard = (
  run: (dashboard: IKnownDashboard, args: ReadonlyPartialJSONObject) => unknown
) => Pick<CommandRegistry.ICommandOptions, 'describedBy' | 'execute'>;

function addPages(
  app: JupyterFrontEnd,
  server: Server,
  trans: IPlotServices['trans'],
  withDashboard: WithDashboard
): void {
  const open = ({ id }: IKnownDashboard, page: string): void =>
    void window.open(server.relayUrl(id, page), '_blank', 'noopener');
  app.commands.addCommand(CommandIDs.openStatus, {
    label: trans.__('Open status page in browser tab'),
    ...withDashboard(found => open(found, 'status'))
  });
  app.commands.addCommand(CommandIDs.openPage, {
    label: args => {
      const page = pageArg(args);
      return page === undefined
        ? trans.__('Open a page of the dashboard in a browser tab…')
        : trans.__('Page “%1”', page);
    },
    ...withDashboard(async (found, args) => {
      const page = pageArg(args) ?? (await askPage(trans));
      if (page !== null) {
        open(found, page);
      }
    })
  });
  app.commands.addCommand(CommandIDs.copyLink, {
    label: trans.__('Copy link to the status page'),
    ...withDashboard(found => Clipboard.copyToSystem(server.relayUrl(found.id, 'status')))
  });
}

const PAGE_ARG = {
  page: {
    type: 'string',
    description: `One of ${PAGES.join(', ')}; asked for when left out.`
  }
};

function pageArg(args: ReadonlyPartialJSONObject): string | undefined {
  return PAGES.find(page => page === args['page']);
}

async function askPage(trans: IPlotServices['trans']): Promise<string | null> {
  const { value } = await InputDialog.getItem({
    title: trans.__('Which page?'),
    items: [...PAGES]
  });
  return value;
}

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
