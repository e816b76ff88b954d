/** A plot of a dashboard, drawn in the page, for panes and for cells: which one it shows, and what is wrong with that. */

import { Signal, type ISignal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { clusterFor, newClusters, peersOf } from '../dashboards/clusters';
import type { IKnownDashboard } from '../dashboards/dashboards';
import { LivePlot, type ILivePlotOptions } from '../plot/live';
import { openSession } from '../plot/session';
import type { IBlocker } from '../plot/state';
import { isSameArguments, NO_ARGUMENTS } from '../protocol/control';
import type { IPlotLink, PlotArguments } from '../protocol/control';
import type { IPlot } from '../protocol/dashboard';
import { bindingOf, missingServer, staleMessage, titleFromName, type IBinding } from './binding';
import type { IPlotServices } from './services';

export interface IPlotOptions {
  readonly plot: string;
  readonly binding: IBinding;
  readonly services: IPlotServices;
  /** What to show of many; no choice when left out. */
  readonly arguments?: PlotArguments;
}

/** Which cluster follows one that has ended: an answer of the user, for all plots of that one. */
const answered = new Signal<object, readonly [from: string, next: IKnownDashboard]>({});

export class PlotWidget extends Widget {
  /** @param live - what draws it. */
  constructor(
    options: IPlotOptions,
    readonly live = livePlot(options, nativeSession(options))
  ) {
    super({ node: live.node });
    const { plot, binding, services } = options;
    this.services = services;
    this.plot = plot;
    this.binding = binding;
    this._kind = binding.kind ?? 'diagnostics';
    live.onPresented = () => this._changed.emit();
    live.onLink = link => this._opened.emit(link);
    services.themeChanged.connect(() => live.setTheme(services.theme), this);
    services.dashboards.changed.connect(this._follow, this);
    answered.connect(this._take, this);
    this._follow();
  }

  readonly services: IPlotServices;
  readonly plot: string;

  /** Where it belongs; set by `rebind`, and when it goes on with the next cluster. */
  binding: IBinding;

  /** The dashboard that is shown, where it is in the list. */
  dashboard: IKnownDashboard | undefined;

  /** Something that is shown, the dashboard, or what it shows of many changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** A click in the picture asked for another plot of the same dashboard. */
  get opened(): ISignal<this, IPlotLink> {
    return this._opened;
  }

  /** What it is called, with what it shows of many: `Profile: inc`. */
  get heading(): string {
    return this.live.heading;
  }

  /** What it shows of many. */
  get arguments(): PlotArguments {
    return this.live.arguments;
  }

  get dashboardName(): string {
    return this.dashboard?.shownName || this.binding.name || this.services.trans.__('this plot');
  }

  /** The plot as its dashboard told it last; only its name before. */
  get info(): IPlot {
    const { plot: name } = this;
    this._info = this.dashboard?.plots.find(one => one.name === name) ?? this._info;
    return this._info ?? { name, title: titleFromName(name), group: '', description: '' };
  }

  /** Show something else of the same plot, in place. */
  choose(given: PlotArguments): void {
    if (!isSameArguments(given, this.arguments)) {
      this.live.show(given);
      this._updateContext();
    }
  }

  /** Show the same plot of another dashboard. */
  rebind(binding: IBinding): void {
    this.binding = binding;
    this._follow();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.live.dispose();
      Signal.disconnectReceiver(this);
      this.services.dashboards.setShown(this, null);
      super.dispose();
    }
  }

  /** Whose it is, in front of its headline; '' where something beside it says that. */
  protected get owner(): string {
    return '';
  }

  /** Whether it goes on though the Jupyter server does not answer. */
  protected get isConnected(): boolean {
    return this.live.control !== null;
  }

  /** Whether a cluster's end is said by what draws it, or shows nothing to say it of. */
  protected get knowsEnd(): boolean {
    // A plot of a kernel that stopped never hears of its end.
    const { state = 'closed' } = this.live.control ?? {};
    return state === 'closed' || state === 'lost';
  }

  /** Show a dashboard from now on; undefined leaves the last picture as it is. */
  protected connect(dashboard: IKnownDashboard | undefined): void {
    // Where the way to it changes it is connected anew; the last picture stays until then.
    this.live.setTarget(dashboard?.id ?? null, String(this.dashboard?.channel === undefined));
  }

  /** Reasons outside the plot's own connection: no server, no dashboard, a kernel that is busy. */
  protected blocker(): IBlocker | null {
    const { dashboards, trans } = this.services;
    const { dashboard: own, dashboardName: name } = this;
    const offline = (message: string): IBlocker => ({ state: 'offline', message });
    if (dashboards.feedState === 'missing') {
      return offline(missingServer(trans));
    }
    if (dashboards.feedState === 'lost' && !this.isConnected) {
      return offline(
        trans.__('The Jupyter server does not answer. This plot returns by itself when it does.')
      );
    }
    if (own === undefined) {
      const message = this.binding.notebook
        ? trans.__(
            '%1 has no cluster at the moment. Run the cell that makes the client again; this plot returns by itself.',
            name
          )
        : name.endsWith('.daskrun')
          ? trans.__('%1 is closed: open the file again, and this plot returns by itself.', name)
          : trans.__(
              '%1 is not listed any more: its cluster has ended, or it was removed. This plot returns by itself when it does.',
              name
            );
      return dashboards.isKnown ? offline(message) : null;
    }
    if (own.state === 'unreachable') {
      const message = own.reason ?? trans.__('%1 does not answer.', name);
      return { state: 'stale', message, since: this._silentSince };
    }
    if (!this._hasPlot) {
      return offline(
        trans.__(
          '%1 has no plot “%2” for a pane. Another version there may have it.',
          name,
          this.heading
        )
      );
    }
    return own.state === 'stale' && !this.knowsEnd
      ? { state: 'stale', message: staleMessage(own, trans) }
      : null;
  }

  /** Go where the binding leads: to its dashboard, or to the one that comes after it. */
  private _follow(): void {
    const { dashboards } = this.services;
    const isFrozen = this.live.control?.isFrozen === true;
    const next = clusterFor({ ...this.binding, isFrozen }, dashboards.all);
    this.dashboard = next;
    if (next !== undefined) {
      this.binding = { ...bindingOf(next), peers: peersOf(this.binding, next, dashboards.all) };
    }
    dashboards.setShown(this, this.binding.dashboard);
    const isSilent = next?.state === 'unreachable';
    this._silentSince = isSilent ? this._silentSince || Date.now() : 0;
    this.connect(this._hasPlot ? next : undefined);
    this._updateContext();
  }

  /** Present what is around the plot. */
  private _updateContext(): void {
    const { dashboardName, owner } = this;
    const { dashboards, trans } = this.services;
    const context = {
      plotTitle: trans.gettext(this.info.title),
      dashboardName,
      blocker: this._question() ?? this.blocker(),
      transport: this.dashboard?.channel ? trans.__('through the kernel’s messages') : ''
    };
    const tag = dashboards.tag(this.binding.dashboard, dashboardName);
    this.live.setContext(context, owner, tag);
  }

  private get _hasPlot(): boolean {
    // A dashboard that has just been announced has not told its plots yet.
    const { kind = '', plots = [] } = this.dashboard ?? {};
    const isKnown = plots.length === 0 || plots.some(({ name }) => name === this.plot);
    return kind === this._kind && isKnown;
  }

  /** Which of the new clusters it goes on with, where neither name nor place tells. */
  private _question(): IBlocker | null {
    const { dashboards, trans } = this.services;
    const isOver = this.dashboard === undefined || this.dashboard.state === 'stale';
    const next = isOver ? newClusters(this.binding, dashboards.all) : [];
    const message = trans.__('Which cluster do the plots of %1 follow now?', this.dashboardName);
    const choices = next.map(one => ({
      id: one.id,
      label: trans.__('Follow %1', one.shownName),
      choose: () => answered.emit([this.binding.dashboard, one])
    }));
    return next.length === 0 ? null : { state: 'stale', message, choices };
  }

  private _take(_: object, [from, next]: readonly [string, IKnownDashboard]): void {
    if (this.binding.dashboard === from) {
      this.rebind(bindingOf(next));
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _opened = new Signal<this, IPlotLink>(this);
  private readonly _kind: string;
  private _silentSince = 0;
  private _info: IPlot | undefined;
}

/** Return what draws a plot that is opened like this. */
export function livePlot(
  { plot, services, arguments: given = NO_ARGUMENTS }: IPlotOptions,
  open: ILivePlotOptions['open']
): LivePlot {
  const { theme, trans } = services;
  return new LivePlot({ plot, arguments: given, theme, trans, open });
}

/** Opens plots of our own dashboards. */
function nativeSession({
  services: { server, loader, trans }
}: IPlotOptions): ILivePlotOptions['open'] {
  return (id, ...given) => openSession(server.relayed(id), loader, trans, ...given);
}
