/** A dashboard's own pages: in a browser tab, as a link to pass on, or added by its address. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Clipboard, InputDialog } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { messageOf } from '../plot/text';
import { CommandIDs, PAGES, PluginIDs } from '../tokens';
import { IPlotServices } from '../widgets/services';
import { askDashboard, DASHBOARD_ARG, describe, notify, pick, POINTED_ARG, textArg } from './ask';
import { IPanes, type PaneList } from './panelist';
import { pointedPlot } from './pointed';

type Args = ReadonlyPartialJSONObject;

export const linksPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.links,
  description: 'Opens Dask dashboards in browser tabs, through Jupyter.',
  autoStart: true,
  requires: [IPlotServices, IPanes],
  optional: [INotebookTracker],
  activate: (
    app: JupyterFrontEnd,
    services: IPlotServices,
    panes: PaneList,
    notebooks: INotebookTracker | null
  ): void => {
    const { commands } = app;
    const { server, trans } = services;
    const open = (url: string): void => void window.open(url, '_blank', 'noopener');
    const pageArg = (args: Args): string | undefined => PAGES.find(page => page === args['page']);
    /** The address of a page of the dashboard that is meant, or that the user picks. */
    const pageUrl = async (args: Args, page: string): Promise<string | undefined> => {
      const found = await askDashboard(services, textArg(args, 'dashboard'), notebooks);
      return found && server.relayed(found.id).url(page);
    };
    /** The address of the plot that a context menu opened at. */
    const pointedUrl = (args: Args): string | undefined => {
      const at = args['isPointed'] === true ? pointedPlot(app, services) : undefined;
      return at && server.plotUrl(at.dashboard.id, at.plot, at.arguments);
    };
    commands.addCommand(CommandIDs.openStatus, {
      label: trans.__('Open status page in browser tab'),
      describedBy: describe(DASHBOARD_ARG),
      execute: async args => {
        const url = await pageUrl(args, 'status');
        return url && open(url);
      }
    });
    commands.addCommand(CommandIDs.openPage, {
      label: args => {
        const page = pageArg(args);
        return page === undefined
          ? trans.__('Open a page of the dashboard in a browser tab…')
          : trans.__('Page “%1”', page);
      },
      describedBy: describe({
        ...DASHBOARD_ARG,
        page: { enum: PAGES, description: 'Asked for when left out.' }
      }),
      execute: async args => {
        const title = trans.__('Which page?');
        const page = pageArg(args) ?? (await pick(title, PAGES, one => one));
        const url = page && (await pageUrl(args, page));
        return url && open(url);
      }
    });
    commands.addCommand(CommandIDs.copyLink, {
      label: args =>
        args['isPointed'] === true
          ? trans.__('Copy link')
          : trans.__('Copy link to the status page'),
      describedBy: describe({ ...DASHBOARD_ARG, ...POINTED_ARG }),
      execute: async args => {
        const url = pointedUrl(args) ?? (await pageUrl(args, 'status'));
        return url && Clipboard.copyToSystem(url);
      }
    });
    commands.addCommand(CommandIDs.openInBrowser, {
      label: args =>
        args['isPointed'] === true
          ? trans.__('Open in browser tab')
          : trans.__('Open the plot in front in a browser tab'),
      describedBy: describe(POINTED_ARG),
      isEnabled: args => args['isPointed'] === true || panes.current !== null,
      execute: args => {
        const url = pointedUrl(args);
        return url === undefined ? panes.current?.openInBrowser() : open(url);
      }
    });
    commands.addCommand(CommandIDs.addDashboard, {
      label: trans.__('Add a dashboard by its address…'),
      describedBy: describe({
        url: { type: 'string', description: 'Address of a dashboard; asked for when left out.' }
      }),
      execute: async args => {
        const url = textArg(args, 'url') ?? (await askAddress(trans));
        try {
          return url ? await server.addDashboard(url) : undefined;
        } catch (reason) {
          notify(messageOf(reason, trans));
        }
      }
    });
  }
};

async function askAddress(trans: IPlotServices['trans']): Promise<string | null> {
  const { value } = await InputDialog.getText({
    title: trans.__('Address of the dashboard'),
    placeholder: 'http://127.0.0.1:8787/status'
  });
  return value;
}
