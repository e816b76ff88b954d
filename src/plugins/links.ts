/** A dashboard's own pages: in a browser tab, as a link to pass on, or added by its address. */

import { Clipboard, InputDialog } from '@jupyterlab/apputils';

import type { IKnownDashboard } from '../api/dashboards';
import { messageOf } from '../plot/text';
import { CommandIDs, PAGES } from '../tokens';
import { askDashboard, notify, pick, targetOf, textArg, type Args, type IContext } from './context';

export function addLinkCommands(context: IContext): void {
  const { commands } = context.app;
  const { server, trans } = context.services;
  /** Whether it has pages: the kernel's messages carry plots only. */
  const hasPages = ({ channel, shownName }: IKnownDashboard): boolean => {
    if (channel !== undefined) {
      const message = '%1 runs where this Jupyter server cannot reach it: its plots open in panes.';
      notify(trans.__(message, shownName));
    }
    return channel === undefined;
  };
  const open = (url: string | undefined): void => {
    if (url !== undefined) {
      window.open(url, '_blank', 'noopener');
    }
  };
  /** The address of a page of the dashboard that is meant, or that the user picks. */
  const pageUrl = async (args: Args, page: string): Promise<string | undefined> => {
    const found = await askDashboard(context, textArg(args, 'dashboard'));
    return found && hasPages(found) ? server.relayUrl(found.id, page) : undefined;
  };
  const plotUrl = (args: Args): string | undefined => {
    const at = targetOf(context, args);
    return at && hasPages(at.dashboard)
      ? server.plotUrl(at.dashboard.id, at.plot, at.arguments)
      : undefined;
  };
  const pageArg = (args: Args): string | undefined => PAGES.find(page => page === args['page']);
  commands.addCommand(CommandIDs.openStatus, {
    label: trans.__('Open status page in browser tab'),
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
  commands.addCommand(CommandIDs.addDashboard, {
    label: trans.__('Add a dashboard by its address…'),
    execute: async args => {
      const title = trans.__('Address of the dashboard');
      const placeholder = 'http://127.0.0.1:8787/status';
      const url = textArg(args, 'url') ?? (await InputDialog.getText({ title, placeholder })).value;
      try {
        return url ? await server.addDashboard(url) : undefined;
      } catch (reason) {
        notify(messageOf(reason, trans));
      }
    }
  });
}
