/** A dashboard's own pages: in a browser tab, as a link to pass on; what is added by its address. */

import { Clipboard, InputDialog } from '@jupyterlab/apputils';

import { messageOf } from '../plot/text';
import { CommandIDs, PAGES } from '../tokens';
import { askDashboard, hasPages, notify, pick, targetOf, textArg } from './context';
import type { Args, IContext } from './context';

export function addLinkCommands(context: IContext): void {
  const { commands } = context.app;
  const { dashboards, server, trans } = context.services;
  const open = (url: string | undefined): void => {
    if (url !== undefined) {
      window.open(url, '_blank', 'noopener');
    }
  };
  /** The address of a page of the dashboard that is meant, or that the user picks. */
  const pageUrl = async (args: Args, page: string): Promise<string | undefined> => {
    const found = await askDashboard(context, textArg(args, 'dashboard'));
    return found && hasPages(context.services, found) ? server.relayUrl(found.id, page) : undefined;
  };
  const plotUrl = (args: Args): string | undefined => {
    const at = targetOf(context, args);
    return at && hasPages(context.services, at.dashboard)
      ? server.plotUrl(at.dashboard.id, at.plot, at.arguments)
      : undefined;
  };
  const pageArg = (args: Args): string | undefined => PAGES.find(page => page === args['page']);
  commands.addCommand(CommandIDs.openStatus, {
    label: args =>
      dashboards.get(textArg(args, 'dashboard') ?? '')?.shown_with === undefined
        ? trans.__('Open status page in browser tab')
        : trans.__('Open Dask’s own status page in browser tab'),
    execute: async args => open(await pageUrl(args, 'status'))
  });
  commands.addCommand(CommandIDs.openPage, {
    label: args => {
      const page = pageArg(args);
      return page === undefined
        ? trans.__('Open a page of the dashboard in a browser tab…')
        : trans.__('Page “%1”', page);
    },
    execute: async args => {
      const page = pageArg(args) ?? (await pick(trans.__('Which page?'), PAGES, one => one));
      open(page && (await pageUrl(args, page)));
    }
  });
  commands.addCommand(CommandIDs.copyLink, {
    label: args =>
      args['isPointed'] === true ? trans.__('Copy link') : trans.__('Copy link to the status page'),
    execute: async args => {
      const isPointed = args['isPointed'] === true;
      const url = isPointed ? plotUrl(args) : await pageUrl(args, 'status');
      return url && Clipboard.copyToSystem(url);
    }
  });
  commands.addCommand(CommandIDs.openInBrowser, {
    label: trans.__('Open in browser tab'),
    isEnabled: args => args['isPointed'] === true || context.panes.current !== null,
    execute: args => open(plotUrl(args))
  });
}

/** Commands for what the Jupyter server does not find by itself. */
export function addListCommands(context: IContext): void {
  const { commands } = context.app;
  const { dashboards, server, trans } = context.services;
  commands.addCommand(CommandIDs.addDashboard, {
    label: trans.__('Add a dashboard by its address…'),
    execute: async () => {
      let text = '';
      let label = trans.__('For example http://127.0.0.1:8787/status, or a link of Dask Gateway.');
      for (;;) {
        const title = trans.__('Address of a Dask dashboard');
        const okLabel = trans.__('Add');
        text = (await InputDialog.getText({ title, label, text, okLabel })).value ?? '';
        if (text.trim() === '') {
          return;
        }
        try {
          const dashboard = await server.addDashboard(absoluteUrl(text, window.location.origin));
          await commands.execute(CommandIDs.showSidebar, { dashboard });
          return;
        } catch (reason) {
          label = messageOf(reason, trans); // asked again, with what was typed
        }
      }
    }
  });
  commands.addCommand(CommandIDs.removeDashboard, {
    label: args =>
      textArg(args, 'dashboard') === undefined
        ? trans.__('Remove a dashboard that was added by its address…')
        : trans.__('Remove from the list'),
    isEnabled: () => dashboards.all.some(one => one.is_removable),
    execute: async args => {
      const removable = dashboards.all.filter(one => one.is_removable);
      const id = textArg(args, 'dashboard');
      const found =
        id === undefined && removable.length > 1
          ? await pick(trans.__('Which dashboard?'), removable, one => one.shownName)
          : removable.find(one => id === undefined || one.id === id);
      try {
        return found && (await server.removeDashboard(found.id));
      } catch (reason) {
        notify(messageOf(reason, trans));
      }
    }
  });
}

/** Return the address of a link that names no host, as gateways give, on the page's own. */
export function absoluteUrl(link: string, origin: string): string {
  const text = link.trim();
  return /^\/[^/]/.test(text) ? origin + text : text;
}
