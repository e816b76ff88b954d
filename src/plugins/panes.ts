/** Commands that open plots as panes, bring them back after a reload, and act on the one in front. */

import { argumentsOf } from '../plot/control';
import type { Verb } from '../plot/session';
import { CommandIDs } from '../tokens';
import type { Pane } from '../widgets/pane';
import { bindingOf, savedBinding, titleFromName } from '../widgets/plotwidget';
import {
  askBinding,
  askPlot,
  notify,
  pick,
  targetOf,
  textArg,
  type Args,
  type IContext
} from './context';
import { afterPalette } from './panelist';

const MODES = ['split-right', 'split-bottom', 'split-left', 'split-top', 'tab-after'] as const;

export function addOpenCommand(context: IContext): void {
  const { app, services, panes } = context;
  const { dashboards, trans } = services;
  const places: Readonly<Record<string, string>> = {
    'split-right': trans.__('Open to the right'),
    'split-bottom': trans.__('Open below')
  };
  app.commands.addCommand(CommandIDs.openPlot, {
    label: args => {
      const plot = textArg(args, 'plot');
      if (args['isPointed'] === true) {
        return places[textArg(args, 'mode') ?? ''] ?? trans.__('Open');
      }
      const known = dashboards.all.flatMap(one => one.plots).find(({ name }) => name === plot);
      return plot === undefined
        ? trans.__('Open a plot…')
        : trans.__(known?.title ?? titleFromName(plot));
    },
    caption: trans.__('Open a live plot of a Dask cluster'),
    execute: async args => {
      const restored = restoredPane(context, args);
      if (restored !== null) {
        return restored;
      }
      const pointed = args['isPointed'] === true ? targetOf(context, args) : undefined;
      const name = textArg(args, 'plot') ?? pointed?.plot.name;
      const id = textArg(args, 'dashboard') ?? pointed?.dashboard.id;
      const asked = name === undefined ? await askPlot(context, id) : undefined;
      const plot = name ?? asked?.[1].name;
      const meant = asked ? bindingOf(asked[0]) : name && (await askBinding(context, id));
      const binding = meant && plot ? panes.bindingWith(plot, meant) : undefined;
      const given = 'arguments' in args ? argumentsOf(args['arguments']) : undefined;
      const mode = MODES.find(one => one === args['mode']);
      const place = mode && { mode, ref: app.shell.currentWidget?.id };
      const pane = binding && plot ? panes.open(plot, binding, { arguments: given, place }) : null;
      void afterPalette().then(() => pane === panes.current && pane && panes.activate(pane));
      return pane;
    }
  });
}

/** A pane from before a reload: it comes back also while its dashboard is not there. */
function restoredPane({ panes }: IContext, args: Args): Pane | null {
  const [plot, key] = [textArg(args, 'plot'), textArg(args, 'key')];
  const binding = savedBinding(args['binding']);
  if (plot === undefined || key === undefined || binding === null) {
    return null;
  }
  const pane = panes.create(plot, binding, argumentsOf(args['arguments']), key);
  panes.show(pane);
  return pane;
}

/** Commands about all panes of a cluster. */
export function addClusterCommands(context: IContext): void {
  const { app, services, panes } = context;
  const { dashboards, trans } = services;
  app.commands.addCommand(CommandIDs.switchCluster, {
    label: trans.__('Switch cluster…'),
    caption: trans.__(
      'Show another cluster in the panes that show the cluster of the pane in front'
    ),
    isEnabled: () => panes.current !== null,
    execute: async args => {
      const from = textArg(args, 'from');
      const own = from ? panes.bindingTo(from) : panes.current?.content.binding;
      const others = dashboards.all.filter(
        ({ id, kind, state }) =>
          id !== own?.dashboard && kind === (own?.kind ?? 'diagnostics') && state !== 'stale'
      );
      const id = textArg(args, 'dashboard');
      if (id === undefined && others.length === 0) {
        notify(trans.__('There is no other cluster that has these plots.'));
        return;
      }
      const next =
        id === undefined
          ? await pick(trans.__('Which cluster?'), others, one => one.shownName)
          : dashboards.get(id);
      if (own !== undefined && next !== undefined) {
        panes.of(own).forEach(({ content }) => content.rebind(bindingOf(next)));
      }
    }
  });
  app.commands.addCommand(CommandIDs.closePlots, {
    label: trans.__('Close all plots of a cluster'),
    isEnabled: () => panes.tracker.size > 0,
    execute: async args => {
      const id = textArg(args, 'dashboard');
      const own = id === undefined ? panes.current?.content.binding : undefined;
      const binding = own ?? (await askBinding(context, id));
      if (binding !== undefined) {
        panes.closeAll(binding);
      }
    }
  });
}

/** The files of a plot: of its picture, and of its data as `View.formats` has them. */
const SAVING: Readonly<Record<string, string>> = {
  png: 'Save picture as PNG',
  svg: 'Save picture as SVG',
  csv: 'Save data as CSV',
  json: 'Save data as JSON',
  'trace.json': 'Save trace for Perfetto',
  'speedscope.json': 'Save profile for speedscope'
};

/** Commands about the pane in front, most of which have keys. */
export function addPaneCommands(context: IContext): void {
  const { app, services, panes } = context;
  const { trans } = services;
  const send =
    (verb: Verb) =>
    (pane: Pane): void =>
      pane.content.live.send(verb);
  const commands: readonly (readonly [string, string, (pane: Pane) => unknown])[] = [
    [CommandIDs.zoomIn, trans.__('Zoom in'), send('zoom-in')],
    [CommandIDs.zoomOut, trans.__('Zoom out'), send('zoom-out')],
    [CommandIDs.panLeft, trans.__('Pan to earlier'), send('pan-left')],
    [CommandIDs.panRight, trans.__('Pan to later'), send('pan-right')],
    [CommandIDs.fitPlot, trans.__('Fit all into the plot'), send('fit')],
    [CommandIDs.followLive, trans.__('Follow live data'), send('live')],
    [CommandIDs.freezePlot, trans.__('Freeze or unfreeze the plot'), send('freeze')],
    [CommandIDs.clearPlot, trans.__('Clear the plot'), send('clear')],
    [CommandIDs.reloadPlot, trans.__('Reload the plot'), pane => pane.content.live.reload()],
    [CommandIDs.showHelp, trans.__('How to read this plot'), pane => pane.toggleHelp()]
  ];
  /** Dask's own plots are used inside their frame. */
  const isOurs = (): boolean => panes.current?.content.isStock === false;
  for (const [id, label, run] of commands) {
    const isForAll = id === CommandIDs.reloadPlot || id === CommandIDs.showHelp;
    app.commands.addCommand(id, {
      label,
      isEnabled: () => (isForAll ? panes.current !== null : isOurs()),
      execute: () => panes.current && run(panes.current)
    });
  }
  app.commands.addCommand(CommandIDs.savePlot, {
    label: args => trans.__(SAVING[textArg(args, 'format') ?? 'png'] ?? 'Save'),
    isEnabled: isOurs,
    execute: args => panes.current?.save(textArg(args, 'format') ?? 'png')
  });
  app.commands.addCommand(CommandIDs.showTable, {
    label: trans.__('Show as a table'),
    isEnabled: args =>
      args['isPointed'] === true
        ? targetOf(context, args)?.dashboard.kind === 'diagnostics'
        : isOurs(),
    execute: args => {
      const at = targetOf(context, args);
      const pane = at?.pane ?? (at && panes.open(at.plot.name, bindingOf(at.dashboard)));
      return (pane ?? panes.current)?.toggleTable();
    }
  });
}
