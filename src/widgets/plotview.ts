/** One live picture: drawn natively, paused when nobody sees it, never blank without a reason. */

import type { Message } from '@lumino/messaging';
import { Signal, type ISignal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type { Verb } from '../api/session';
import { isAwaited, type IBinding } from '../model/binding';
import { titleFromName } from '../model/catalogue';
import type { IKnownDashboard } from '../model/dashboards';
import {
  NOTHING_YET,
  presentationOf,
  type IPresentation,
  type ISituation
} from '../model/panestate';
import { PlotLink } from '../model/plotlink';
import {
  headingOf,
  isSameArguments,
  NO_ARGUMENTS,
  subjectOf,
  type IOpening,
  type IPlot,
  type PlotArguments
} from '../wire';
import { Frame } from './frame';
import { Keepsake } from './keepsake';
import type { IPlotServices } from './services';
import { Sight } from './sight';
import { Since, Ticker } from './since';
import { keepFieldMenus } from './typing';

export interface IPlotViewOptions {
  readonly plot: string;
  readonly binding: IBinding;
  readonly services: IPlotServices;
  /** What to show of many; no choice when left out. */
  readonly arguments?: PlotArguments;
}

export class PlotView extends Widget {
  constructor(options: IPlotViewOptions) {
    super();
    this.addClass('jp-DaskDiag-plot');
    this.plot = options.plot;
    this._binding = options.binding;
    this._services = options.services;
    this._arguments = options.arguments ?? NO_ARGUMENTS;
    this._lastInfo = { ...this._lastInfo, name: this.plot, title: titleFromName(this.plot) };
    this.node.tabIndex = 0;
    this.node.setAttribute('role', 'group');
    keepFieldMenus(this.node);
    const { connector, look, dashboards, trans } = this._services;
    const { stage } = this._frame;
    this._sight = new Sight(this, this._services.page);
    this._link = new PlotLink(connector, this.plot, stage, look.current, this._arguments, trans);
    this.node.append(...this._frame.nodes);
    this._link.changed.connect(this._present, this);
    dashboards.changed.connect(() => this.follow(this._binding), this);
    look.changed.connect(this._onLook, this);
    this._sight.changed.connect(this._onSight, this);
    this._onSight();
    this._services.succession.join(this);
    this.follow(this._binding);
  }

  readonly plot: string;

  /** What is said and shown now; `presented` when it changed. */
  get presentation(): IPresentation {
    return this._presentation;
  }

  get presented(): ISignal<this, IPresentation> {
    return this._presented;
  }

  /** Where the picture belongs; another one after a successor took it over. */
  get binding(): IBinding {
    return this._binding;
  }

  get rebound(): ISignal<this, IBinding> {
    return this._rebound;
  }

  /** The dashboard that is shown, where it is in the list. */
  get dashboard(): IKnownDashboard | undefined {
    return this._dashboard;
  }

  /** The plot as its dashboard tells it; only its name while the dashboard is away. */
  get info(): IPlot {
    const known = this._dashboard?.plots.find(plot => plot.name === this.plot);
    return known ?? this._lastInfo;
  }

  /** What the plot is called, with what it shows of many: `Profile: inc`. */
  get heading(): string {
    return headingOf(this.info.title, subjectOf(this._arguments));
  }

  get arguments(): PlotArguments {
    return this._arguments;
  }

  /** It shows something else of the same plot now. */
  get shown(): ISignal<this, PlotArguments> {
    return this._shown;
  }

  /** A click in the picture asked for another plot of the same dashboard. */
  get opened(): ISignal<PlotLink, IOpening> {
    return this._link.opened;
  }

  /** Show something else of the same plot, in place. */
  showOther(given: PlotArguments): void {
    if (!isSameArguments(given, this._arguments)) {
      this._arguments = given;
      this._link.show(given);
      this._shown.emit(given);
      this._present();
    }
  }

  /** Go where a binding leads, to its dashboard or the one that takes over. */
  follow(binding: IBinding): void {
    const { succession } = this._services;
    const next = succession.dashboardFor(binding);
    this._bind(succession.rebound(binding, next));
    const wasSilent = this._dashboard?.state === 'unreachable' || this._dashboard === undefined;
    this._dashboard = next;
    this._lastInfo = this.info;
    this._silent.note(next?.state === 'unreachable');
    this._aim();
    if (wasSilent && next?.state === 'live') {
      this._link.retryNow();
    }
    this._present();
  }

  /** It was opened ahead of its cluster, just now. */
  get isAwaited(): boolean {
    return isAwaited(this._binding, this._madeAt);
  }

  get dashboardName(): string {
    return this._dashboard?.shownName || this._binding.name || this._services.trans.__('this plot');
  }

  /** Do what a key or a button asks; freezing a frozen picture lets it go. */
  send(verb: Verb): void {
    this._link.send(verb);
  }

  /** The picture as PNG, in the colours of the theme. */
  picture(): Promise<Blob> {
    return this._link.picture(this._services.look.current);
  }

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    this._services.succession.leave(this);
    this._sight.dispose();
    this._ticker.dispose();
    Signal.disconnectReceiver(this);
    this._link.dispose();
    super.dispose();
  }

  override processMessage(msg: Message): void {
    super.processMessage(msg);
    this._sight.onMessage(msg);
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    this.node.focus({ preventScroll: true });
  }

  /** Remember what we need to find our dashboard, or its successor, again. */
  private _bind(binding: IBinding): void {
    const last = this._binding;
    this._binding = binding;
    if (JSON.stringify(binding) !== JSON.stringify(last)) {
      this._rebound.emit(binding);
    }
  }

  /** Remember since when the server holds the picture; a cut connection says nothing about it. */
  private _noteFreezing(): void {
    const { state } = this._link;
    if (state.phase === 'open') {
      this._frozen.note(state.control.frozen);
    }
  }

  /** Connect once somebody has seen the pane; a picture that was drawn stays when all else goes. */
  private _aim(): void {
    const { _dashboard: dashboard } = this;
    const isOurs = dashboard?.kind === 'diagnostics' && this._hasPlot;
    this._link.target(isOurs && this._wasSeen ? dashboard.id : null);
  }

  private get _hasPlot(): boolean {
    // A dashboard that has just been announced has not told its plots yet.
    const plots = this._dashboard?.plots ?? [];
    return plots.length === 0 || plots.some(plot => plot.name === this.plot);
  }

  private _onSight(): void {
    const { isSeen } = this._sight;
    this._link.setVisible(isSeen);
    if (isSeen && !this._wasSeen) {
      this._wasSeen = true;
      this._aim();
    }
    this._present();
  }

  private _onLook(): void {
    this._link.setLook(this._services.look.current);
  }

  private _situation(): ISituation {
    const { dashboards } = this._services;
    return {
      now: Date.now(),
      plotTitle: this.info.title,
      dashboardName: this.dashboardName,
      dashboard: this._dashboard,
      lastLive: dashboards.seen(this._binding.dashboard)?.lastLive ?? 0,
      silentSince: this._silent.time,
      hasPlot: this._hasPlot,
      isListKnown: dashboards.isKnown,
      isAwaited: this.isAwaited,
      feed: dashboards.feedState,
      feedProblem: dashboards.problem,
      link: this._link.state,
      isVisible: this._sight.isSeen,
      frozenSince: this._frozen.time,
      hasPicture: this._link.hasPicture,
      hasKept: this._link.kept !== null
    };
  }

  private _present(): void {
    if (this.isDisposed) {
      return;
    }
    this._noteFreezing();
    const shown = presentationOf(this._situation(), this._services.trans);
    const { dataset } = this.node;
    dataset['state'] = shown.state;
    dataset['picture'] = String(this._link.hasPicture);
    dataset['greyed'] = String(shown.isGreyed);
    this.node.setAttribute('aria-label', `${this.heading}, ${this.dashboardName}`);
    const kept = shown.isGreyed ? this._keepsake.of(this._link.kept) : null;
    this._frame.stage.keep(kept?.canvas ?? null);
    this._frame.setTitle(kept?.title || this._link.title || this.heading);
    this._frame.setDashboard(this._dashboard, this._services.dashboards);
    this._frame.show(shown);
    this._presentation = shown;
    this._runClock();
    this._presented.emit(shown);
  }

  /** Count while something is waited for and somebody looks. */
  private _runClock(): void {
    const { state, elapsed } = this._presentation;
    this._ticker.run(this._sight.isSeen && (elapsed !== '' || state === 'connecting'));
  }

  private readonly _madeAt = Date.now();
  private readonly _services: IPlotServices;
  private readonly _link: PlotLink;
  private readonly _sight: Sight;
  private readonly _keepsake = new Keepsake();
  private readonly _silent = new Since();
  private readonly _frozen = new Since();
  private readonly _ticker = new Ticker(() => this._present());
  private readonly _frame = new Frame(() => this.send('live'));
  private readonly _shown = new Signal<this, PlotArguments>(this);
  private readonly _presented = new Signal<this, IPresentation>(this);
  private readonly _rebound = new Signal<this, IBinding>(this);
  private _presentation: IPresentation = NOTHING_YET;
  private _binding: IBinding;
  private _arguments: PlotArguments;
  private _dashboard: IKnownDashboard | undefined;
  private _lastInfo: IPlot = { name: '', title: '', group: '', description: '' };
  private _wasSeen = false;
}
