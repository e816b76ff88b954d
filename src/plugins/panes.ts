/** Opens panes, keeps track of them, and brings them back after a page reload. */

import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { UUID, type ReadonlyPartialJSONObject } from '@lumino/coreutils';
import { DockPanel } from '@lumino/widgets';

import { bindingOf, savedBinding, type IBinding } from '../model/binding';
import { titleFromName } from '../model/catalogue';
import { BOARD_ID, CommandIDs, NAMESPACE, PluginIDs } from '../tokens';
import { Board } from '../widgets/board';
import { Pane } from '../widgets/pane';
import { argumentsOf, NO_ARGUMENTS, type IOpening, type PlotArguments } from '../wire';
import { IPlotServices } from '../widgets/services';
import { ARGUMENTS_ARG, DASHBOARD_ARG, describe, PLOT_ARG, textArg } from './args';
import { askDashboard, askPlot, frontKernel } from './ask';
import { IPanes, type IOpenOptions } from './ipanes';
import { openInBrowser, openingUrl } from './opening';

/** A pane that is this wide, or else this high, keeps enough of its own when another joins it. */
const WIDE_PX = 720;
const HIGH_PX = 560;

export const panesPlugin: JupyterFrontEndPlugin<IPanes> = {
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
  ): IPanes => {
    const panes = new Panes(app, services, labShell, notebooks);
    addOpenCommand(app, services, panes, notebooks);
    if (restorer !== null) {
      void restorer.restore(panes.tracker, {
        command: CommandIDs.openPlot,
        args: pane => ({
          plot: pane.state.plot,
          key: pane.key,
          binding: { ...pane.state.binding },
          arguments: { ...pane.state.arguments }
        }),
        name: pane => pane.key
      });
    }
    return panes;
  }
};

class Panes implements IPanes {
  constructor(
    private readonly _app: JupyterFrontEnd,
    private readonly _services: IPlotServices,
    private readonly _labShell: ILabShell | null,
    private readonly _notebooks: INotebookTracker | null
  ) {}

  readonly tracker = new WidgetTracker<Pane>({ namespace: NAMESPACE });

  get current(): Pane | null {
    return this.tracker.currentWidget;
  }

  find(plot: string, dashboard: string): Pane | undefined {
    return this.tracker.find(
      pane => pane.view.plot === plot && pane.view.binding.dashboard === dashboard
    );
  }

  create(plot: string, dashboard: string, given = NO_ARGUMENTS): Pane {
    const known = this._services.dashboards.get(dashboard);
    const binding = known === undefined ? savedBinding({ dashboard }) : bindingOf(known);
    return this.make(plot, binding, newKey(plot), given);
  }

  open(plot: string, dashboard: string, options: IOpenOptions = {}): Pane {
    const there = this.find(plot, dashboard);
    const pane = there ?? this.create(plot, dashboard, options.arguments);
    if (there === undefined) {
      this.show(pane, options);
    } else {
      there.view.showOther(options.arguments ?? there.view.arguments);
      this._reveal(there);
    }
    if (options.isActivated !== false) {
      this._activate(pane);
    }
    return pane;
  }

  /** Make a pane with a binding, which may be one from before a reload. */
  make(plot: string, binding: IBinding | null, key: string, given: PlotArguments): Pane {
    const bound = binding ?? {
      dashboard: '',
      kernel: null,
      notebook: null,
      scheduler: '',
      name: '',
      beside: []
    };
    const options = { plot, binding: bound, services: this._services, arguments: given };
    const pane = new Pane(options, key);
    pane.stateChanged.connect(() => void this.tracker.save(pane), this);
    pane.view.opened.connect((_, opening) => this._openBeside(pane, opening), this);
    void this.tracker.add(pane);
    return pane;
  }

  /** Put a pane on screen: in Lab's main area, in Notebook 7 on a board of our own. */
  show(pane: Pane, options: IOpenOptions): void {
    const { mode, ref } = options.mode === undefined ? this._usualPlace(pane) : options;
    if (this._labShell === null) {
      const board = this._boardOf();
      // A side area is narrow: what would be side by side goes one below the other.
      const stacked = mode === 'split-right' || mode === 'split-left' ? 'split-bottom' : mode;
      board.addWidget(pane, { mode: stacked, ref: board.find(ref) });
      this._app.shell.activateById(BOARD_ID);
      return;
    }
    this._app.shell.add(pane, 'main', { mode, ref: ref ?? null, activate: false });
  }

  /** A click in a pane asked for another plot of its dashboard. */
  private _openBeside(pane: Pane, opening: IOpening): void {
    const isKnown = openingUrl(this._services, pane.view, opening) !== null;
    if (this._labShell === null || !isKnown) {
      openInBrowser(this._services, pane.view, opening);
    } else {
      const { dashboard } = pane.view.binding;
      const last = this._beside.get(pane);
      const isThere = last?.isAttached === true;
      const made = this.open(opening.plot, dashboard, {
        ...(isThere ? { mode: 'tab-after', ref: last.id } : placeBeside(pane)),
        arguments: opening.arguments
      });
      if (made !== pane) {
        this._beside.set(pane, made);
      }
    }
  }

  private _activate(pane: Pane): void {
    this._app.shell.activateById(this._labShell === null ? BOARD_ID : pane.id);
    this._board?.activateWidget(pane);
  }

  /** Bring a pane in front of the tabs it is behind; a dock does that without the focus. */
  private _reveal(pane: Pane): void {
    if (this._labShell === null) {
      this._app.shell.activateById(BOARD_ID); // its area may be collapsed
    }
    if (pane.parent instanceof DockPanel) {
      pane.parent.selectWidget(pane);
    } else if (!pane.isVisible) {
      this._app.shell.activateById(pane.id);
    }
  }

  private _boardOf(): Board {
    if (this._board === null || this._board.isDisposed) {
      this._board = new Board(this._services.trans);
      this._app.shell.add(this._board, 'right');
    }
    return this._board;
  }

  /** The first pane goes to the right of the notebook, the next ones to the pane used last. */
  private _usualPlace(pane: Pane): IOpenOptions {
    const others = this.tracker.filter(other => other !== pane && other.isAttached);
    const last = others.find(other => other === this.current) ?? others[others.length - 1];
    if (last !== undefined) {
      return { mode: 'tab-after', ref: last.id };
    }
    const notebook = this._notebooks?.currentWidget;
    return { mode: 'split-right', ...(notebook ? { ref: notebook.id } : {}) };
  }

  private _board: Board | null = null;
  /** What was opened last by a click in a pane: the next one goes to the same place. */
  private readonly _beside = new WeakMap<Pane, Pane>();
}

function newKey(plot: string): string {
  return `${plot}-${UUID.uuid4().slice(0, 8)}`;
}

function addOpenCommand(
  app: JupyterFrontEnd,
  services: IPlotServices,
  panes: Panes,
  notebooks: INotebookTracker | null
): void {
  const { dashboards, trans } = services;
  app.commands.addCommand(CommandIDs.openPlot, {
    label: args => {
      const plot = textArg(args, 'plot');
      const known = dashboards.all.flatMap(one => one.plots).find(one => one.name === plot);
      return plot === undefined ? trans.__('Open a plot…') : (known?.title ?? titleFromName(plot));
    },
    caption: trans.__('Open a live plot of a Dask cluster'),
    describedBy: describe({ ...PLOT_ARG, ...DASHBOARD_ARG, ...ARGUMENTS_ARG }),
    execute: async args => {
      const restored = restoredPane(panes, args);
      if (restored !== null) {
        return restored;
      }
      const id = textArg(args, 'dashboard');
      const dashboard = await askDashboard(dashboards, trans, id, frontKernel(notebooks));
      const plot = textArg(args, 'plot') ?? (dashboard && (await askPlot(dashboard, trans)));
      if (dashboard === undefined || plot === undefined) {
        return null;
      }
      const given = 'arguments' in args ? { arguments: argumentsOf(args['arguments']) } : {};
      return panes.open(plot, dashboard.id, given);
    }
  });
}

/** A pane from before a reload: it comes back also while its dashboard is not there. */
function restoredPane(panes: Panes, args: ReadonlyPartialJSONObject): Pane | null {
  const plot = textArg(args, 'plot');
  const key = textArg(args, 'key');
  const binding = savedBinding(args['binding']);
  if (plot === undefined || key === undefined || binding === null) {
    return null;
  }
  const given = argumentsOf(args['arguments']);
  const pane = panes.tracker.find(one => one.key === key) ?? panes.make(plot, binding, key, given);
  if (!pane.isAttached) {
    panes.show(pane, {});
  }
  return pane;
}

/** Beside or below a pane that has room for two, else behind it in the same place. */
function placeBeside(pane: Pane): Pick<IOpenOptions, 'mode' | 'ref'> {
  const { width, height } = pane.node.getBoundingClientRect();
  const mode = width >= WIDE_PX ? 'split-right' : height >= HIGH_PX ? 'split-bottom' : 'tab-after';
  return { mode, ref: pane.id };
}
