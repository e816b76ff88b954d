/** The panes that are open: where each one goes, which one is used, what a click in one opens. */

import type { ILabShell } from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
import { DockPanelSvg } from '@jupyterlab/ui-components';
import { UUID } from '@lumino/coreutils';
import type { DockLayout } from '@lumino/widgets';

import type { IKnownDashboard } from '../dashboards/dashboards';
import {
  isSameArguments,
  NO_ARGUMENTS,
  type IPlotLink,
  type PlotArguments
} from '../protocol/control';
import { BOARD_ID, NAMESPACE } from '../tokens';
import { bindingOf, type IBinding } from '../widgets/binding';
import { diagIcon } from '../widgets/icons';
import { paneFor, PlotPane, type Pane } from '../widgets/pane';
import type { PlotWidget } from '../widgets/plotwidget';
import { textArg, type Args } from './commands';
import type { IShared } from './context';
import { openInBrowser } from './links';

export interface IPlacement {
  readonly mode: DockLayout.InsertMode;
  /** The id of the widget it is placed at; the main area when left out. */
  readonly ref?: string | undefined;
}

export interface IOpenOptions {
  /** Where it goes; to the other panes when left out. */
  readonly place?: IPlacement | undefined;
  /** False leaves the focus where it is, and what is in front of its tab. */
  readonly isActivated?: boolean;
  /** What to show of many. */
  readonly arguments?: PlotArguments | undefined;
}

/** What a pane showed. */
type IStep = Pick<PlotWidget, 'plot' | 'binding' | 'arguments'>;

/** What brings a pane back once it is disposed. */
function stepOf({ plot, binding, arguments: given }: PlotWidget): IStep {
  return { plot, binding, arguments: given };
}

export class PaneManager {
  constructor(
    private readonly _shared: IShared,
    private readonly _labShell: ILabShell | null,
    /** Fills the toolbar of a pane. */
    private readonly _fill: (pane: Pane) => void = () => undefined
  ) {}

  readonly tracker = new WidgetTracker<Pane>({ namespace: NAMESPACE });

  /** The pane that was used last. */
  get current(): Pane | null {
    return this.tracker.currentWidget;
  }

  /** Return the pane that a command is about: by its id, else the one that was used last. */
  meant(args: Args): Pane | null {
    const id = textArg(args, 'id');
    return id === undefined ? this.current : (this.tracker.find(one => one.id === id) ?? null);
  }

  /** Return the panes of a cluster, or those that wait for the first one of a notebook's kernel. */
  of({ dashboard, kernel }: IBinding): readonly Pane[] {
    return this.tracker.filter(({ content: { binding } }) => {
      return binding.dashboard === dashboard && (dashboard !== '' || binding.kernel === kernel);
    });
  }

  /** Close them, with those of Dask's own dashboard of that cluster. */
  closeAll(binding: IBinding): void {
    const { all } = this._shared.services.dashboards;
    const others = all.filter(one => one.shown_with === binding.dashboard).map(bindingOf);
    // Hidden ones first: else each would be visible for a moment, and its toolbar laid out after it
    // has been disposed.
    [binding, ...others]
      .flatMap(one => this.of(one))
      .sort((a, b) => Number(a.isVisible) - Number(b.isVisible))
      .forEach(pane => pane.dispose());
  }

  /**
   * Return the pane of a plot of a dashboard that shows this choice of many, or which may show it:
   * a pane with a choice is reused for another choice.
   */
  find(plot: string, binding: IBinding, given = NO_ARGUMENTS): Pane | undefined {
    const panes = this.of(binding).filter(({ content }) => content.plot === plot);
    const isPlain = isSameArguments(given, NO_ARGUMENTS);
    return (
      panes.find(({ content }) => isSameArguments(content.arguments, given)) ??
      (isPlain ? undefined : panes[0])
    );
  }

  bindingTo(dashboard: string): IBinding {
    const known = this._shared.services.dashboards.get(dashboard);
    return known ? bindingOf(known) : { dashboard, kernel: null, notebook: null, name: '' };
  }

  /** Return the binding that is meant, or that of Dask's own of the cluster where only it has the plot. */
  bindingWith(plot: string, binding: IBinding): IBinding {
    const { all } = this._shared.services.dashboards;
    const has = ({ plots }: IKnownDashboard): boolean => plots.some(({ name }) => name === plot);
    const own = this._shared.services.dashboards.get(binding.dashboard);
    const stock = all.find(one => one.shown_with === binding.dashboard && has(one));
    return own && own.plots.length > 0 && !has(own) && stock ? bindingOf(stock) : binding;
  }

  /** Return a new pane that somebody else puts somewhere; its key names it across reloads. */
  create(plot: string, binding: IBinding, given = NO_ARGUMENTS, key = newKey(plot)): Pane {
    const pane = paneFor({ plot, binding, services: this._shared.services, arguments: given }, key);
    let saved = '';
    pane.content.changed.connect(({ binding: bound, arguments: shown }) => {
      const state = JSON.stringify([bound, shown]);
      if (state !== saved && this.tracker.has(pane)) {
        saved = state;
        void this.tracker.save(pane);
      }
    });
    if (pane instanceof PlotPane) {
      pane.content.opened.connect((_, link) => this._drillDown(pane, link));
    }
    void this.tracker.add(pane);
    this._fill(pane); // its commands find it by now
    return pane;
  }

  /** Return the pane of a plot of a dashboard, opened where it is not yet. */
  open(plot: string, binding: IBinding, options: IOpenOptions = {}): Pane {
    const { arguments: given, place, isActivated = true } = options;
    const there = this.find(plot, binding, given);
    const pane = there ?? this.create(plot, binding, given);
    if (pane === this._drilled) {
      this._drilled = null; // the user has asked for it by name, and it stays
    }
    if (there === undefined || place !== undefined) {
      this.show(pane, place);
    }
    if (given !== undefined && pane instanceof PlotPane) {
      pane.content.choose(given);
    }
    return isActivated ? this.activate(pane) : pane;
  }

  /** In front of the same plot of another cluster, where only that one is in view. */
  placeInFront(plot: string, { dashboard }: IBinding): IPlacement | undefined {
    const inView = this.tracker.filter(one => one.isVisible && one.content.plot === plot);
    const isThere = inView.some(({ content }) => content.binding.dashboard === dashboard);
    const [other] = isThere ? [] : inView;
    return other && { mode: 'tab-after', ref: other.id };
  }

  /** Put a pane on screen: in Lab's main area, in Notebook 7 on a board of our own. */
  show(pane: Pane, place = this._usualPlace(pane)): void {
    if (this._labShell === null) {
      this._showOnBoard(pane, place);
    } else {
      const { mode, ref = null } = place;
      // Where Lab shows one document at a time, what is split shares the space of that one.
      const options = this._labShell.mode === 'single-document' ? {} : { mode, ref };
      this._shared.app.shell.add(pane, 'main', { ...options, activate: false });
    }
  }

  /** Bring a pane in front, and give it the focus. */
  activate(pane: Pane): Pane {
    if (this._labShell === null) {
      this._board?.activateWidget(pane);
    } else {
      this._shared.app.shell.activateById(pane.id);
    }
    return pane;
  }

  /** The first pane goes to the right of the notebook, the next ones to the pane used last. */
  private _usualPlace(pane: Pane): IPlacement {
    const others = this.tracker.filter(
      // The streams of a comparison lie over the notebook.
      other => other !== pane && other.isAttached && other.content.arguments['run'] === undefined
    );
    const last = others.find(other => other === this.current) ?? others[others.length - 1];
    return last === undefined
      ? { mode: 'split-right', ref: this._shared.notebooks?.currentWidget?.id }
      : { mode: 'tab-after', ref: last.id };
  }

  /**
   * A click in a pane asked for another plot of its dashboard. All such share one pane, in which a
   * button leads back to what was clicked: to the pane, or to what was there before.
   */
  private _drillDown({ content, node }: Pane, link: IPlotLink): void {
    const { binding, dashboard } = content;
    const { plot, arguments: given } = link;
    if (this._labShell === null || !dashboard?.plots.some(({ name }) => name === plot)) {
      openInBrowser(this._shared.services, content, link);
      return;
    }
    const last = this._drilled?.isAttached === true ? this._drilled : null;
    const isShown = last !== null && last === this.find(plot, binding, given);
    if (isShown && isSameArguments(last.content.arguments, given)) {
      this.activate(last);
      return;
    }
    const trail = [...(last?.content === content ? this._trail : []), stepOf(content)];
    this._showStep({ plot, binding, arguments: given }, trail, last, this._placeBeside(node));
  }

  /** Show a step of a drill-down in the place of the last one. */
  private _showStep(
    { plot, binding, arguments: given }: IStep,
    trail: readonly IStep[],
    last: Pane | null,
    place: IPlacement
  ): void {
    const pane = this.create(plot, binding, given);
    this.show(pane, last ? { mode: 'tab-after', ref: last.id } : place);
    const before = trail.at(-1);
    if (before) {
      const earlier = trail.slice(0, -1);
      pane.back = () =>
        earlier.length > 0
          ? this._showStep(before, earlier, pane, place)
          : void this.open(before.plot, before.binding, { arguments: before.arguments });
    }
    this._drilled = pane;
    this._trail = trail;
    last?.dispose();
    this.activate(pane);
  }

  /** Where it covers neither the picture that was clicked nor the notebook, and moves neither. */
  private _placeBeside(node: HTMLElement): IPlacement {
    const { width, height } = node.getBoundingClientRect();
    const area = (one: Pane): number => one.node.clientWidth * one.node.clientHeight;
    const [other] = this.tracker
      .filter(one => one.isVisible && one.node !== node)
      .sort((a, b) => area(b) - area(a));
    const notebook = this._shared.notebooks?.currentWidget;
    if (other) {
      return { mode: 'tab-after', ref: other.id };
    }
    return notebook?.isVisible === true
      ? { mode: 'split-bottom', ref: notebook.id }
      : {
          mode: width > height ? 'split-right' : 'split-bottom',
          ref: node.id
        };
  }

  /** A side area is narrow: what would be side by side goes one below the other. */
  private _showOnBoard(pane: Pane, { mode, ref }: IPlacement): void {
    const { trans } = this._shared.services;
    if (this._board === null || this._board.isDisposed) {
      const board = new DockPanelSvg({ mode: 'multiple-document', spacing: 4 });
      board.id = BOARD_ID;
      board.title.icon = diagIcon;
      board.title.caption = trans.__('Live plots of Dask clusters');
      // An empty board has no use; the next pane brings another.
      board.layoutModified.connect(() => board.isEmpty && !board.isDisposed && board.dispose());
      this._shared.app.shell.add(board, 'right');
      this._board = board;
    }
    const at = this.tracker.find(({ id, parent }) => id === ref && parent === this._board);
    const stacked = at && mode !== 'split-right' && mode !== 'split-left' ? mode : 'split-bottom';
    this._board.addWidget(pane, { mode: stacked, ref: at ?? null });
    if (!this._board.isVisible) {
      this._shared.app.shell.activateById(BOARD_ID); // Notebook 7.4 would collapse one that is shown
    }
  }

  private _board: DockPanelSvg | null = null;
  /** The pane that clicks in others share, and what it showed before. */
  private _drilled: Pane | null = null;
  private _trail: readonly IStep[] = [];
}

function newKey(plot: string): string {
  return `${plot}-${UUID.uuid4().slice(0, 8)}`;
}
