/** The plugin of the panes: commands that open them, bring them back after a reload, and act on one. */

import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { createToolbarFactory, IToolbarWidgetRegistry, setToolbar } from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import {
  caretLeftIcon,
  caretRightIcon,
  clearIcon,
  closeIcon,
  downloadIcon,
  listIcon,
  refreshIcon,
  undoIcon
} from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';

import type { PlotCommand } from '../plot/session';
import { argumentsOf } from '../protocol/control';
import { CommandIDs, TOOLBAR_FACTORY } from '../tokens';
import { bindingOf, savedBinding, titleFromName } from '../widgets/binding';
import { watchFrames } from '../widgets/frame';
import {
  fitIcon,
  frozenIcon,
  helpIcon,
  liveIcon,
  plotIcon,
  tableIcon,
  zoomInIcon,
  zoomOutIcon
} from '../widgets/icons';
import { FramePane, PlotPane, type Pane } from '../widgets/pane';
import {
  afterPalette,
  describedBy,
  isPointed,
  MODES,
  notify,
  pick,
  textArg,
  type Args
} from './commands';
import {
  askBinding,
  askPlot,
  dashboardArg,
  IPanes,
  IShared,
  targetOf,
  type IContext
} from './context';
import { PaneManager } from './panemanager';

const PLUGIN_ID = 'dask-diag-lab:panes';

/** The context, where there are panes. */
type IPaneContext = IContext & { readonly panes: PaneManager };

export const panesPlugin: JupyterFrontEndPlugin<PaneManager> = {
  id: PLUGIN_ID,
  description: 'Live plots of Dask clusters in panes.',
  autoStart: true,
  requires: [IShared],
  optional: [ILabShell, ILayoutRestorer, IToolbarWidgetRegistry, ISettingRegistry, ITranslator],
  provides: IPanes,
  activate: (
    app: JupyterFrontEnd,
    shared: IShared,
    labShell: ILabShell | null,
    restorer: ILayoutRestorer | null,
    toolbars: IToolbarWidgetRegistry | null,
    settings: ISettingRegistry | null,
    translator: ITranslator | null
  ): PaneManager => {
    const fill =
      toolbars && settings
        ? toolbarFiller(toolbars, settings, translator ?? nullTranslator)
        : undefined;
    const panes = new PaneManager(shared, labShell, fill);
    const context = { ...shared, panes };
    addOpenCommand(context);
    addClusterCommands(context);
    addPlotCommands(context);
    watchFrames();
    void restorer?.restore(panes.tracker, {
      command: CommandIDs.openPlot,
      args: ({ content: { plot, binding, arguments: given }, key }) => {
        return { plot, key, binding: { ...binding }, arguments: { ...given } };
      },
      name: pane => pane.key,
      when: app.serviceManager.ready
    });
    return panes;
  }
};

/** Return what fills a pane's toolbar with the items of the settings, which act on that pane. */
function toolbarFiller(
  toolbars: IToolbarWidgetRegistry,
  settings: ISettingRegistry,
  translator: ITranslator
): (pane: Pane) => void {
  const createWidget: IToolbarWidgetRegistry['createWidget'] = (name, pane, item) =>
    toolbars.createWidget(name, pane, { ...item, args: { ...item.args, id: pane.id } });
  const registry = Object.create(toolbars, {
    createWidget: { value: createWidget }
  }) as IToolbarWidgetRegistry; // all else is that of Lab's own
  const factory = createToolbarFactory(registry, settings, TOOLBAR_FACTORY, PLUGIN_ID, translator);
  return pane => setToolbar(pane, factory, pane.toolbar);
}

function addOpenCommand(context: IPaneContext): void {
  const { app, services, panes } = context;
  const { dashboards, trans } = services;
  const places: Readonly<Record<string, string>> = {
    'split-right': trans.__('Open to the right'),
    'split-bottom': trans.__('Open below')
  };
  app.commands.addCommand(CommandIDs.openPlot, {
    label: args => {
      const plot = textArg(args, 'plot');
      if (isPointed(args) && targetOf(context, args) !== undefined) {
        return places[textArg(args, 'mode') ?? ''] ?? trans.__('Open');
      }
      const known = dashboards.all.flatMap(one => one.plots).find(({ name }) => name === plot);
      return plot === undefined
        ? trans.__('Open a plot…')
        : trans.gettext(known?.title ?? titleFromName(plot));
    },
    caption: trans.__('Open a live plot of a Dask cluster'),
    icon: args => plotIcon(textArg(args, 'plot') ?? ''),
    describedBy: describedBy(
      'plot',
      'dashboard',
      'arguments',
      'mode',
      'isPointed',
      'key',
      'binding'
    ),
    execute: async args => {
      const restored = restoredPane(context, args);
      if (restored !== null) {
        return restored;
      }
      const pointed = isPointed(args) ? targetOf(context, args) : undefined;
      const name = textArg(args, 'plot') ?? pointed?.plot.name;
      const asked = name === undefined ? await askPlot(context, args) : undefined;
      const plot = name ?? asked?.[1].name;
      const meant = asked ? bindingOf(asked[0]) : name && (await askBinding(context, args));
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
function restoredPane({ panes }: IPaneContext, args: Args): Pane | null {
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
export function addClusterCommands(context: IPaneContext): void {
  const { app, services, panes } = context;
  const { dashboards, trans } = services;
  app.commands.addCommand(CommandIDs.switchCluster, {
    label: trans.__('Switch cluster…'),
    caption: trans.__(
      'Show another cluster in the panes that show the cluster of the pane in front'
    ),
    icon: listIcon,
    describedBy: describedBy('id', 'dashboard'),
    isEnabled: args => panes.meant(args) !== null,
    execute: async args => {
      const own = panes.meant(args)?.content.binding;
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
    icon: closeIcon,
    describedBy: describedBy('id', 'dashboard', 'isPointed'),
    isEnabled: () => panes.tracker.size > 0,
    execute: async args => {
      const isNamed = dashboardArg(context, args) !== undefined;
      const own = isNamed ? undefined : panes.meant(args)?.content.binding;
      const binding = own ?? (await askBinding(context, args));
      if (binding !== undefined) {
        panes.closeAll(binding);
      }
    }
  });
}

/** The files of a plot: of its picture, and of its data as `View.formats` has them. */
function savingLabel(format: string, trans: TranslationBundle): string {
  const labels: Readonly<Record<string, string>> = {
    png: trans.__('Save picture as PNG'),
    svg: trans.__('Save picture as SVG'),
    csv: trans.__('Save data as CSV'),
    json: trans.__('Save data as JSON'),
    'trace.json': trans.__('Save trace for Perfetto'),
    'speedscope.json': trans.__('Save profile for speedscope')
  };
  return labels[format] ?? trans.__('Save as %1', format);
}

type IShown = Pick<CommandRegistry.ICommandOptions, 'label' | 'caption' | 'icon' | 'describedBy'>;

interface IPaneCommand<T extends Pane> extends IShown {
  /** Whether it has a button in the toolbar of a pane; always when left out. */
  readonly isShown?: (pane: T) => boolean;
  readonly run: (pane: T, args: Args) => unknown;
}

/** Add commands about one pane; `isMeant` says which panes they are for. */
function addPaneCommands<T extends Pane>(
  { app, panes }: IPaneContext,
  isMeant: (pane: Pane | null) => pane is T,
  commands: Readonly<Record<string, IPaneCommand<T>>>
): void {
  for (const [id, { isShown = () => true, run, ...shown }] of Object.entries(commands)) {
    app.commands.addCommand(id, {
      describedBy: describedBy('id', 'toolbar'),
      ...shown,
      isEnabled: args => isMeant(panes.meant(args)),
      isVisible: args => {
        const pane = panes.meant(args);
        return !isButton(args) || (isMeant(pane) && isShown(pane));
      },
      execute: args => {
        const pane = panes.meant(args);
        return isMeant(pane) ? run(pane, args) : undefined;
      }
    });
  }
}

function isButton(args: Args): boolean {
  return args['toolbar'] === true;
}

/** Dask's own plots are used inside their frame. */
function isOurs(pane: Pane | null): pane is PlotPane {
  return pane instanceof PlotPane;
}

function addPlotCommands(context: IPaneContext): void {
  const { trans } = context.services;
  const send =
    (verb: PlotCommand) =>
    ({ content }: PlotPane): void =>
      content.live.send(verb);
  const isFollowing = ({ content }: PlotPane): boolean => content.live.presentation.pill === '';
  addPaneCommands(context, isOurs, {
    [CommandIDs.zoomIn]: { label: trans.__('Zoom in'), icon: zoomInIcon, run: send('zoom-in') },
    [CommandIDs.zoomOut]: { label: trans.__('Zoom out'), icon: zoomOutIcon, run: send('zoom-out') },
    [CommandIDs.panLeft]: {
      label: trans.__('Pan to earlier'),
      icon: caretLeftIcon,
      run: send('pan-left')
    },
    [CommandIDs.panRight]: {
      label: trans.__('Pan to later'),
      icon: caretRightIcon,
      run: send('pan-right')
    },
    [CommandIDs.fitPlot]: {
      label: trans.__('Fit all into the plot'),
      caption: trans.__('Fit'),
      icon: fitIcon,
      run: send('fit')
    },
    [CommandIDs.followLive]: {
      label: trans.__('Follow live data'),
      icon: liveIcon,
      isShown: pane => !isFollowing(pane),
      run: send('live')
    },
    [CommandIDs.freezePlot]: {
      label: trans.__('Freeze or unfreeze the plot'),
      caption: trans.__('Freeze'),
      icon: frozenIcon,
      isShown: isFollowing,
      run: send('freeze')
    },
    [CommandIDs.clearPlot]: {
      label: trans.__('Clear the plot'),
      icon: clearIcon,
      run: send('clear')
    },
    [CommandIDs.showTable]: {
      label: trans.__('Show as a table'),
      caption: trans.__('Data as a table'),
      icon: tableIcon,
      run: pane => pane.toggleTable()
    },
    [CommandIDs.savePlot]: {
      label: args => savingLabel(textArg(args, 'format') ?? 'png', trans),
      caption: args => (isButton(args) ? trans.__('Save…') : ''),
      icon: downloadIcon,
      describedBy: describedBy('id', 'format', 'toolbar'),
      run: (pane, args) =>
        isButton(args) ? pane.openSaveMenu() : pane.save(textArg(args, 'format') ?? 'png')
    }
  });
  addPaneCommands(context, (pane): pane is Pane => pane !== null, {
    [CommandIDs.reloadPlot]: {
      label: trans.__('Reload the plot'),
      icon: refreshIcon,
      isShown: pane => pane instanceof FramePane,
      run: ({ content }) => content.live.reload()
    },
    [CommandIDs.showHelp]: {
      label: trans.__('How to read this plot'),
      caption: trans.__('How to read this'),
      icon: helpIcon,
      run: pane => pane.toggleHelp()
    }
  });
  addPaneCommands(context, (pane): pane is Pane => pane?.back != null, {
    [CommandIDs.goBack]: {
      label: trans.__('Back to the plot before'),
      icon: undoIcon,
      run: pane => pane.back?.()
    }
  });
}
