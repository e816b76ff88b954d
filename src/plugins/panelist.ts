/** The panes that are open: where each one goes, which one is used, what a click in one opens. */

import type { ILabShell, JupyterFrontEnd } from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
import type { INotebookTracker } from '@jupyterlab/notebook';
import { UUID } from '@lumino/coreutils';
import { DockPanel, type DockLayout } from '@lumino/widgets';

import { bindingOf, NO_BINDING, savedBinding, type IBinding } from '../model/binding';
import { stackedMode } from '../model/layout';
import { nextPlace } from '../model/place';
import { BOARD_ID, NAMESPACE } from '../tokens';
import { Board } from '../widgets/board';
import { Pane } from '../widgets/pane';
import type { IPlotServices } from '../widgets/services';
import { spotsOf } from '../widgets/spots';
import { isSameArguments, NO_ARGUMENTS, type IOpening, type PlotArguments } from '../wire';
import { frontNotebook } from './ask';
import type { IOpenOptions, IPanes } from './ipanes';
import { NewClusters } from './newclusters';
import { openInBrowser, openingUrl } from './opening';

/** A pane that is this wide, or else this high, keeps enough of its own when another joins it. */
const WIDE_PX = 720;
const HIGH_PX = 560;

export class PaneList implements IPanes {
  constructor(
    private readonly _app: JupyterFrontEnd,
    private readonly _services: IPlotServices,
    private readonly _labShell: ILabShell | null,
    private readonly _notebooks: INotebookTracker | null
  ) {
    const scope = _services.trans.__('In all panes that show the same cluster as this one');
    this._newClusters = new NewClusters(_services, scope);
  }

  readonly tracker = new WidgetTracker<Pane>({ namespace: NAMESPACE });

  get current(): Pane | null {
    return this.tracker.currentWidget;
  }

  get seen(): readonly Pane[] {
    return this.tracker.filter(pane => pane.isVisible);
  }

  get(id: string): Pane | undefined {
    return this.tracker.find(pane => pane.id === id);
  }

  find(plot: string, dashboard: string): Pane | undefined {
    return this._reusable(plot, binding => binding.dashboard === dashboard, NO_ARGUMENTS);
  }

  create(plot: string, dashboard: string, given = NO_ARGUMENTS): Pane {
    const known = this._services.dashboards.get(dashboard);
    const binding = known === undefined ? savedBinding({ dashboard }) : bindingOf(known);
    return this.make(plot, binding ?? NO_BINDING, newKey(plot), given);
  }

  open(plot: string, dashboard: string, options: IOpenOptions = {}): Pane {
    const given = options.arguments ?? NO_ARGUMENTS;
    const there = this._reusable(plot, binding => binding.dashboard === dashboard, given);
    return this._openOr(there, () => this.create(plot, dashboard, given), options);
  }

  place(plot: string, dashboard: string, mode: DockLayout.InsertMode): Pane {
    const pane = this.find(plot, dashboard) ?? this.create(plot, dashboard);
    const front = this._app.shell.currentWidget;
    this.show(pane, { mode, ...(front !== null && front !== pane ? { ref: front.id } : {}) });
    return this.activate(pane);
  }

  activate(pane: Pane): Pane {
    if (this._labShell === null) {
      this._showBoard();
      this._board?.activateWidget(pane);
    } else {
      this._app.shell.activateById(pane.id);
    }
    return pane;
  }

  reveal(pane: Pane): void {
    if (this._labShell === null) {
      this._showBoard();
    }
    if (pane.parent instanceof DockPanel) {
      pane.parent.selectWidget(pane); // which leaves the focus alone
    } else if (!pane.isVisible) {
      this._app.shell.activateById(pane.id);
    }
  }

  /** Open a pane for a cluster that is still to come, known by the kernel it will live in. */
  openAhead(plot: string, binding: IBinding, options: IOpenOptions): Pane {
    const given = options.arguments ?? NO_ARGUMENTS;
    const isOfKernel = (one: IBinding): boolean =>
      one.dashboard === '' && one.kernel === binding.kernel;
    const there = this._reusable(plot, isOfKernel, given);
    return this._openOr(there, () => this.make(plot, binding, newKey(plot), given), options);
  }

  /** Make a pane with a binding, which may be one from before a reload. */
  make(plot: string, binding: IBinding, key: string, given: PlotArguments): Pane {
    const pane = new Pane({ plot, binding, services: this._services, arguments: given }, key);
    pane.stateChanged.connect(() => void this.tracker.save(pane), this);
    pane.view.opened.connect((_, opening) => this._openBeside(pane, opening), this);
    void this.tracker.add(pane);
    this._newClusters.watch(pane.view);
    return pane;
  }

  /** Put a pane on screen: in Lab's main area, in Notebook 7 on a board of our own. */
  show(pane: Pane, options: IOpenOptions): void {
    const { mode, ref } = options.mode === undefined ? this._usualPlace(pane) : options;
    if (this._labShell === null) {
      const board = this._boardOf();
      // A side area is narrow: what would be side by side goes one below the other.
      const stacked = mode && stackedMode(mode);
      board.addWidget(pane, { mode: stacked, ref: board.find(ref) });
      this._showBoard();
      return;
    }
    // Where Lab shows one document at a time, what is split shares the room of that one.
    const place = this._labShell.mode === 'single-document' ? {} : { mode, ref: ref ?? null };
    this._app.shell.add(pane, 'main', { ...place, activate: false });
  }

  /** A pane that shows a choice is reused for another choice only, and a plain one for both. */
  private _reusable(
    plot: string,
    isMeant: (binding: IBinding) => boolean,
    given: PlotArguments
  ): Pane | undefined {
    const panes = this.tracker.filter(({ view }) => view.plot === plot && isMeant(view.binding));
    const same = panes.find(({ view }) => isSameArguments(view.arguments, given));
    if (same !== undefined || isSameArguments(given, NO_ARGUMENTS)) {
      return same;
    }
    return panes.find(({ view }) => !isSameArguments(view.arguments, NO_ARGUMENTS)) ?? panes[0];
  }

  private _openOr(there: Pane | undefined, create: () => Pane, options: IOpenOptions): Pane {
    const pane = there ?? create();
    there?.view.showOther(options.arguments ?? there.view.arguments);
    if (there === undefined || options.isMoved === true) {
      this.show(pane, options);
    } else {
      this.reveal(there);
    }
    if (options.isActivated !== false) {
      this.activate(pane);
    }
    return pane;
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

  /** Its area may be collapsed; Notebook 7.4 collapses it when what it shows is activated. */
  private _showBoard(): void {
    if (this._board?.isVisible !== true) {
      this._app.shell.activateById(BOARD_ID);
    }
  }

  private _boardOf(): Board {
    if (this._board === null || this._board.isDisposed) {
      this._board = new Board(this._services.trans);
      this._app.shell.add(this._board, 'right');
    }
    return this._board;
  }

  /** The first pane goes to the right of the notebook, the next ones to where panes have room. */
  private _usualPlace(pane: Pane): IOpenOptions {
    const others = this.tracker.filter(other => other !== pane && other.isAttached);
    const last = others.find(other => other === this.current) ?? others[others.length - 1];
    if (last !== undefined) {
      return nextPlace(spotsOf(others, last)) ?? { mode: 'tab-after', ref: last.id };
    }
    const notebook = frontNotebook(this._notebooks);
    return { mode: 'split-right', ...(notebook ? { ref: notebook.id } : {}) };
  }

  private readonly _newClusters: NewClusters;
  private _board: Board | null = null;
  /** What was opened last by a click in a pane: the next one goes to the same place. */
  private readonly _beside = new WeakMap<Pane, Pane>();
}

function newKey(plot: string): string {
  return `${plot}-${UUID.uuid4().slice(0, 8)}`;
}

/** Beside or below a pane that has room for two, else behind it in the same place. */
export function placeBeside(pane: Pane): Pick<IOpenOptions, 'mode' | 'ref'> {
  const { width, height } = pane.node.getBoundingClientRect();
  const mode = width >= WIDE_PX ? 'split-right' : height >= HIGH_PX ? 'split-bottom' : 'tab-after';
  return { mode, ref: pane.id };
}
