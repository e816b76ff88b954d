/** The plugin of links: a dashboard's pages in browser tabs, links to pass on, what is added by its address. */

import { Clipboard, InputDialog } from '@jupyterlab/apputils';
import { addIcon, closeIcon, downloadIcon, launchIcon, linkIcon } from '@jupyterlab/ui-components';

import type { IKnownDashboard } from '../dashboards/dashboards';
import type { IPlotLink } from '../protocol/control';
import { h, messageOf, type ITranslate } from '../text';
import { CommandIDs } from '../tokens';
import { bindingOf } from '../widgets/binding';
import type { PlotWidget } from '../widgets/plotwidget';
import { runCommand, type IPlotServices } from '../widgets/services';
import { describedBy, isPointed, notify, notifyError, pick, type Args } from './commands';
import {
  addOn,
  askDashboard,
  dashboardArg,
  pointedAt,
  targetOf,
  type IContext,
  type IShared
} from './context';

export const linksPlugin = addOn(
  'links',
  'Pages of Dask dashboards in browser tabs, and dashboards by their address.',
  [],
  context => {
    addPageCommands(context);
    addListCommands(context);
    addSaveCommand(context);
  }
);

function addPageCommands(context: IContext): void {
  const { commands } = context.app;
  const { server, trans } = context.services;
  /** The address of the status page of the dashboard that is meant, or that the user picks. */
  const statusUrl = async (args: Args): Promise<string | undefined> => {
    const found = await askDashboard(context, dashboardArg(context, args));
    return found && hasPages(found, trans) ? server.relayUrl(found.id, 'status') : undefined;
  };
  const plotUrl = (args: Args): string | undefined => {
    const at = targetOf(context, args);
    return at && hasPages(at.dashboard, trans)
      ? server.plotUrl(at.dashboard.id, at.plot, at.arguments)
      : undefined;
  };
  commands.addCommand(CommandIDs.openStatus, {
    label: trans.__('Open status page in browser tab'),
    icon: launchIcon,
    describedBy: describedBy('dashboard', 'isPointed'),
    execute: async args => openTab(await statusUrl(args))
  });
  const isOfPlot = (args: Args): boolean =>
    isPointed(args) && targetOf(context, args) !== undefined;
  commands.addCommand(CommandIDs.copyLink, {
    label: args =>
      isOfPlot(args) ? trans.__('Copy link') : trans.__('Copy link to the status page'),
    icon: linkIcon,
    describedBy: describedBy('dashboard', 'isPointed'),
    execute: async args => {
      const url = isOfPlot(args) ? plotUrl(args) : await statusUrl(args);
      return url && Clipboard.copyToSystem(url);
    }
  });
  commands.addCommand(CommandIDs.openInBrowser, {
    label: trans.__('Open in browser tab'),
    icon: launchIcon,
    describedBy: describedBy('id', 'isPointed', 'toolbar'),
    isEnabled: args => isPointed(args) || context.panes?.meant(args) != null,
    execute: args => openTab(plotUrl(args))
  });
}

function addSaveCommand(shared: IShared): void {
  const { dashboards, server, trans } = shared.services;
  const runOf = (args: Args): string | undefined => pointedAt(shared, args, 'run');
  shared.app.commands.addCommand(CommandIDs.saveRecording, {
    label: args =>
      runOf(args) === undefined ? trans.__('Save a recording…') : trans.__('Save run…'),
    caption: trans.__('Save what is known of a cluster to a file that opens its plots'),
    icon: downloadIcon,
    describedBy: describedBy('dashboard', 'isPointed'),
    execute: async args => {
      const ours = dashboards.all.filter(({ kind }) => kind === 'diagnostics');
      const found = await askDashboard(shared, dashboardArg(shared, args), ours);
      if (found !== undefined) {
        const download = `${found.shownName.replace(/\.(ipynb|daskrun)$/, '')}.daskrun`;
        const run = runOf(args);
        const path = `recording.daskrun${run === undefined ? '' : `?run=${run}`}`;
        try {
          const href = await server.relayed(found.id).url(path);
          h('a', { href, download }).click();
          setTimeout(() => URL.revokeObjectURL(href), 0); // the download has begun by then
        } catch (reason) {
          notifyError(trans.__('Not saved.'), reason, trans);
        }
      }
    }
  });
}

/** Commands for what the Jupyter server does not find by itself. */
function addListCommands(shared: IContext): void {
  const { commands } = shared.app;
  const { dashboards, server, trans } = shared.services;
  commands.addCommand(CommandIDs.addDashboard, {
    label: trans.__('Add a dashboard by its address…'),
    icon: addIcon,
    describedBy: describedBy(),
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
          await server.addDashboard(absoluteUrl(text, window.location.origin));
          runCommand(commands, CommandIDs.showSidebar);
          return;
        } catch (reason) {
          label = messageOf(reason, trans); // asked again, with what was typed
        }
      }
    }
  });
  /** What can be removed: all, or of the cluster that is named or pointed at, with Dask's own of it. */
  const removable = (args: Args): readonly IKnownDashboard[] => {
    const id = dashboardArg(shared, args);
    return dashboards.all.filter(
      one => one.is_removable && (id === undefined || one.id === id || one.shown_with === id)
    );
  };
  commands.addCommand(CommandIDs.removeDashboard, {
    label: args => {
      const id = dashboardArg(shared, args);
      if (id === undefined) {
        return trans.__('Remove a dashboard that was added by its address…');
      }
      return dashboards.get(id)?.kind === 'diagnostics'
        ? trans.__('Close the recording')
        : trans.__('Remove from the list');
    },
    icon: closeIcon,
    describedBy: describedBy('dashboard', 'isPointed'),
    isEnabled: args => removable(args).length > 0,
    isVisible: args => !isPointed(args) || removable(args).length > 0,
    execute: async args => {
      const [first, ...others] = removable(args);
      const found =
        first && others.length > 0
          ? await pick(trans.__('Which dashboard?'), [first, ...others], one => one.shownName)
          : first;
      try {
        await (found && server.removeDashboard(found.id));
        if (found?.kind === 'diagnostics') {
          shared.panes?.closeAll(bindingOf(found)); // a recording, as any file that is closed
        }
      } catch (reason) {
        notifyError(trans.__('Not removed.'), reason, trans);
      }
    }
  });
}

/** Return the address of a link that names no host, as gateways give, on the page's own. */
export function absoluteUrl(link: string, origin: string): string {
  const text = link.trim();
  return /^\/[^/]/.test(text) ? origin + text : text;
}

/** Whether a dashboard has pages for browser tabs, and say so where not. */
function hasPages({ channel, shownName }: IKnownDashboard, trans: ITranslate): boolean {
  if (channel !== undefined) {
    notify(
      trans.__(
        '%1 is reached through the messages of its kernel only: its plots open in panes.',
        shownName
      )
    );
  }
  return channel === undefined;
}

function openTab(url: string | undefined): void {
  if (url !== undefined) {
    window.open(url, '_blank', 'noopener');
  }
}

/** Open a plot that a click asked for in a browser tab, or say that there is none of that name. */
export function openInBrowser(
  { server, trans }: IPlotServices,
  { dashboard, dashboardName }: PlotWidget,
  { plot, arguments: given }: IPlotLink
): void {
  const known = dashboard?.plots.find(({ name }) => name === plot);
  if (!dashboard || !known) {
    notify(trans.__('%1 has no plot “%2”.', dashboardName, plot));
  } else if (hasPages(dashboard, trans)) {
    openTab(server.plotUrl(dashboard.id, known, given));
  }
}
