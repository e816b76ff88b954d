/** Opens plots as panes, brings them back after a reload, and has the commands of the one in front. */

import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { PathExt } from '@jupyterlab/coreutils';
import { INotebookTracker } from '@jupyterlab/notebook';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { DockLayout } from '@lumino/widgets';

import type { IKnownDashboard } from '../api/dashboards';
import { argumentsOf } from '../plot/control';
import type { Verb } from '../plot/session';
import { CommandIDs, PluginIDs } from '../tokens';
import type { Pane } from '../widgets/pane';
import { bindingOf, savedBinding, titleFromName, type IBinding } from '../widgets/plotwidget';
import { IPlotServices } from '../widgets/services';
import {
  askDashboard,
  DASHBOARD_ARG,
  describe,
  frontKernel,
  pick,
  PLOT_ARG,
  POINTED_ARG,
  textArg,
  whenFound
} from './ask';
import { IPanes, newKey, PaneList, type IPlacement } from './panelist';
import { pointedPlot } from './pointed';

/** How long the cluster of the notebook in front may take to reach the list (ms). */
const SOON_MS = 1000;

const MODES = ['split-right', 'split-bottom', 'split-left', 'split-top', 'tab-after'] as const;

export const panesPlugin: JupyterFrontEndPlugin<PaneList> = {
  id: PluginIDs.panes,
  description: 'Panes with live Dask plots.',
  autoStart: true,
  requires: [IPlotServices],
  optional: [ILabShell, ILayoutRestorer, INotebookTracker],
  provides: IPanes,
  activate: (
    app: JupyterFrontEnd,
    services: IPlotServices,
    labShell: ILabShell | null,
    restorer: ILayoutRestorer | null,
    notebooks: INotebookTracker | null
  ): PaneList => {
    const panes = new PaneList(app, services, labShell, notebooks);
    addOpenCommand(app, services, panes, notebooks);
    addClusterCommands(app, services, panes, notebooks);
    if (restorer !== null) {
      void restorer.restore(panes.tracker, {
        command: CommandIDs.openPlot,
        args: ({ content, key }) => ({
          plot: content.plot,
          key,
          binding: { ...content.binding },
          arguments: { ...content.arguments }
        }),
        name: pane => pane.key,
        when: app.serviceManager.ready
      });
    }
    return panes;
  }
};

function addOpenCommand(
  app: JupyterFrontEnd,
  services: IPlotServices,
  panes: PaneList,
  notebooks: INotebookTracker | null
): void {
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
    describedBy: describe({
      ...PLOT_ARG,
      ...DASHBOARD_ARG,
      ...POINTED_ARG,
      mode: { enum: MODES, description: 'Where it goes relative to what is in front.' },
      arguments: {
        type: 'object',
        additionalProperties: { type: 'string' },
        description: 'What the plot is to show of many, such as {"prefix": "inc"}.'
      }
    }),
    isEnabled: args =>
      args['isPointed'] !== true || pointedPlot(app, services)?.dashboard.kind === 'diagnostics',
    execute: async args => {
      const restored = restoredPane(panes, args);
      if (restored !== null) {
        return restored;
      }
      const pointed = args['isPointed'] === true ? pointedPlot(app, services) : undefined;
      const name = textArg(args, 'plot') ?? pointed?.plot.name;
      const id = textArg(args, 'dashboard') ?? pointed?.dashboard.id;
      const ahead = name !== undefined && id === undefined && bindingAhead(services, notebooks);
      if (ahead) {
        const pane = panes.make(name, ahead, newKey(name), argumentsOf(args['arguments']));
        panes.show(pane);
        return panes.activate(pane);
      }
      const dashboard = await foundDashboard(services, notebooks, id);
      const plot = name ?? (dashboard && (await askPlot(services, dashboard)));
      if (dashboard === undefined || plot === undefined) {
        return null;
      }
      const place = placeOf(args, app);
      const given = 'arguments' in args ? { arguments: argumentsOf(args['arguments']) } : {};
      return panes.open(plot, dashboard.id, { ...given, ...(place ? { place } : {}) });
    }
  });
}

function placeOf(args: ReadonlyPartialJSONObject, { shell }: JupyterFrontEnd): IPlacement | null {
  const mode: DockLayout.InsertMode | undefined = MODES.find(one => one === args['mode']);
  return mode === undefined ? null : { mode, ref: shell.currentWidget?.id };
}

/** A pane from before a reload: it comes back also while its dashboard is not there. */
function restoredPane(panes: PaneList, args: ReadonlyPartialJSONObject): Pane | null {
  const plot = textArg(args, 'plot');
  const key = textArg(args, 'key');
  const binding = savedBinding(args['binding']);
  if (plot === undefined || key === undefined || binding === null) {
    return null;
  }
  const given = argumentsOf(args['arguments']);
  const pane = panes.tracker.find(one => one.key === key) ?? panes.make(plot, binding, key, given);
  if (!pane.isAttached) {
    panes.show(pane);
  }
  return pane;
}

/** The binding to a cluster that the notebook in front is about to have; null while any runs. */
function bindingAhead(
  { dashboards }: IPlotServices,
  notebooks: INotebookTracker | null
): IBinding | null {
  const kernel = frontKernel(notebooks);
  const notebook = notebooks?.currentWidget?.context.path;
  const isThere = dashboards.all.some(one => one.state !== 'stale' || one.kernel_id === kernel);
  return isThere || kernel === undefined || notebook === undefined
    ? null
    : { dashboard: '', kernel, notebook, name: PathExt.basename(notebook) };
}

/** Return the dashboard that is meant; wait a moment for that of the notebook in front. */
async function foundDashboard(
  services: IPlotServices,
  notebooks: INotebookTracker | null,
  id: string | undefined
): Promise<IKnownDashboard | undefined> {
  const { dashboards } = services;
  const kernel = frontKernel(notebooks);
  const isMeant = (one: IKnownDashboard): boolean =>
    id !== undefined ? one.id === id : kernel === undefined || one.kernel_id === kernel;
  await whenFound(dashboards, () => dashboards.all.find(isMeant), SOON_MS);
  return askDashboard(services, id, notebooks);
}

async function askPlot(
  { trans }: IPlotServices,
  { plots, shownName }: IKnownDashboard
): Promise<string | undefined> {
  const title = trans.__('Which plot of %1?', shownName);
  return (await pick(title, plots, plot => trans.__(plot.title)))?.name;
}

/** Commands about all panes of a cluster. */
function addClusterCommands(
  app: JupyterFrontEnd,
  services: IPlotServices,
  panes: PaneList,
  notebooks: INotebookTracker | null
): void {
  const { dashboards, trans } = services;
  app.commands.addCommand(CommandIDs.switchCluster, {
    label: trans.__('Switch cluster…'),
    caption: trans.__(
      'Show another cluster in the panes that show the cluster of the pane in front'
    ),
    describedBy: describe(DASHBOARD_ARG),
    isEnabled: () => panes.current !== null,
    execute: async args => {
      const pane = panes.current;
      const own = pane?.content.binding.dashboard;
      const others = dashboards.all.filter(
        ({ id, kind, state }) => id !== own && kind === 'diagnostics' && state !== 'stale'
      );
      const id = textArg(args, 'dashboard');
      const title = trans.__('Which cluster?');
      const next =
        id === undefined ? await pick(title, others, one => one.shownName) : dashboards.get(id);
      if (own !== undefined && next !== undefined) {
        panes.of(own).forEach(({ content }) => content.rebind(bindingOf(next)));
      }
    }
  });
  app.commands.addCommand(CommandIDs.closePlots, {
    label: trans.__('Close all plots of a cluster'),
    describedBy: describe(DASHBOARD_ARG),
    isEnabled: () => panes.tracker.size > 0,
    execute: async args => {
      const shown = dashboards.all.filter(({ id }) => panes.of(id).length > 0);
      const own = textArg(args, 'dashboard') ?? panes.current?.content.binding.dashboard;
      const id = own ?? (await askDashboard(services, undefined, notebooks, shown))?.id;
      if (id !== undefined) {
        panes.of(id).forEach(pane => pane.dispose());
      }
    }
  });
}

export const paneKeysPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.paneKeys,
  description: 'Zoom, pan, freeze, save and explain the Dask plot in front.',
  autoStart: true,
  requires: [IPanes, IPlotServices],
  activate: (app: JupyterFrontEnd, panes: PaneList, services: IPlotServices): void => {
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
      [CommandIDs.savePicture, trans.__('Save picture'), pane => pane.savePicture()],
      [CommandIDs.showHelp, trans.__('How to read this plot'), pane => pane.toggleHelp()]
    ];
    for (const [id, label, run] of commands) {
      app.commands.addCommand(id, {
        label,
        describedBy: describe(),
        isEnabled: () => panes.current !== null,
        execute: () => panes.current && run(panes.current)
      });
    }
    app.commands.addCommand(CommandIDs.showTable, {
      label: args =>
        args['isPointed'] === true ? trans.__('Show as a table') : trans.__('Show data as a table'),
      describedBy: describe({ ...PLOT_ARG, ...DASHBOARD_ARG, ...POINTED_ARG }),
      isEnabled: args => args['isPointed'] === true || 'plot' in args || panes.current !== null,
      execute: args => {
        const pointed = args['isPointed'] === true ? pointedPlot(app, services) : undefined;
        const pane = pointed ? paneOf(panes, pointed) : panes.current;
        return pane?.toggleTable();
      }
    });
  }
};

/** The pane at the pointer, or that of the plot in the list there. */
function paneOf(panes: PaneList, pointed: NonNullable<ReturnType<typeof pointedPlot>>): Pane {
  const { plot, dashboard, widget } = pointed;
  const own = panes.tracker.find(({ id }) => id === widget);
  return own ? panes.activate(own) : panes.open(plot.name, dashboard.id);
}
