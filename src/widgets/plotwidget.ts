/** A live plot of one of the dashboards of this Jupyter server, for panes and for cells. */

import { Signal, type ISignal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type { IKnownDashboard } from '../api/dashboards';
import type { IPlot } from '../api/protocol';
import { clusterFor, type IOrigin } from '../plot/clusters';
import {
  headingOf,
  isSameArguments,
  isText,
  NO_ARGUMENTS,
  type Fields,
  type IOpening,
  type PlotArguments
} from '../plot/control';
import { formatClock } from '../plot/format';
import { LivePlot } from '../plot/live';
import { openSession, type Verb } from '../plot/session';
import { closedMessage, type IPresentation, type ITrouble } from '../plot/state';
import type { IPlotServices } from './services';

/** What a plot remembers of its dashboard; plain JSON, survives a page reload. */
export interface IBinding extends IOrigin {
  /** What it was called. */
  readonly name: string;
}

/** Return the binding of a plot to a dashboard. */
export function bindingOf(dashboard: IKnownDashboard): IBinding {
  const { id, kernel_id: kernel, notebook, shownName: name } = dashboard;
  return { dashboard: id, kernel, notebook, name };
}

/** Return the binding that saved arguments hold, or null when they hold none. */
export function savedBinding(value: unknown): IBinding | null {
  const fields = Object(value) as Fields; // any object has string keys
  const text = (key: string): string | null => {
    const given = fields[key];
    return isText(given) ? given : null;
  };
  const dashboard = text('dashboard');
  return dashboard === null
    ? null
    : { dashboard, kernel: text('kernel'), notebook: text('notebook'), name: text('name') ?? '' };
}

export interface IPlotWidgetOptions {
  readonly plot: string;
  readonly binding: IBinding;
  readonly services: IPlotServices;
  /** What to show of many; no choice when left out. */
  readonly arguments?: PlotArguments;
}

export class PlotWidget extends Widget {
  constructor(
    private readonly _options: IPlotWidgetOptions,
    private readonly _live = livePlot(_options)
  ) {
    super({ node: _live.node });
    const { plot, binding, services } = _options;
    this.plot = plot;
    this._binding = binding;
    this._live.onPresented = () => this._changed.emit();
    this._live.onOpening = opening => this._opened.emit(opening);
    services.dashboards.changed.connect(this._follow, this);
    services.lookChanged.connect(() => this._live.setLook(services.look), this);
    this._follow();
  }

  readonly plot: string;

  /** Something that is shown, the dashboard, or what it shows of many changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** A click in the picture asked for another plot of the same dashboard. */
  get opened(): ISignal<this, IOpening> {
    return this._opened;
  }

  get binding(): IBinding {
    return this._binding;
  }

  /** The dashboard that is shown, where it is in the list. */
  get dashboard(): IKnownDashboard | undefined {
    return this._dashboard;
  }

  get dashboardName(): string {
    const { trans } = this._options.services;
    return this._dashboard?.shownName || this._binding.name || trans.__('this plot');
  }

  /** The plot as its dashboard tells it; only its name while the dashboard is away. */
  get info(): IPlot {
    const known = this._dashboard?.plots.find(one => one.name === this.plot);
    return (
      known ?? { name: this.plot, title: titleFromName(this.plot), group: '', description: '' }
    );
  }

  /** What the plot is called, with what it shows of many: `Profile: inc`. */
  get heading(): string {
    return headingOf(this._options.services.trans.__(this.info.title), this.arguments);
  }

  get arguments(): PlotArguments {
    return this._live.arguments;
  }

  /** What its data as a table is asked with: what is drawn, such as a stretch of time. */
  get tableArguments(): PlotArguments {
    return this._live.control?.tableArguments ?? this.arguments;
  }

  get presentation(): IPresentation {
    return this._live.presentation;
  }

  /** Whether the picture does not follow live data: frozen or moved. */
  get isHeld(): boolean {
    return this.presentation.pill !== '';
  }

  /** Show something else of the same plot, in place. */
  choose(given: PlotArguments): void {
    if (!isSameArguments(given, this.arguments)) {
      this._live.show(given);
      this._present();
    }
  }

  /** Show the same plot of another dashboard. */
  rebind(binding: IBinding): void {
    this._binding = binding;
    this._follow();
  }

  send(verb: Verb): void {
    this._live.send(verb);
  }

  picture(): Promise<Blob> {
    return this._live.picture();
  }

  /** Why there is no dashboard to ask; '' while there is one. */
  get missing(): string {
    const { dashboards, trans } = this._options.services;
    if (this._dashboard !== undefined || !dashboards.isKnown) {
      return '';
    }
    const again = trans.__(
      'Run the cell that makes the client again; this plot returns by itself.'
    );
    const gone = dashboards.goneAt(this._binding.dashboard);
    const what =
      gone === undefined
        ? trans.__('%1 has no cluster at the moment.', this.dashboardName)
        : trans.__('The cluster of %1 is gone since %2.', this.dashboardName, formatClock(gone));
    return `${what} ${again}`;
  }

  override dispose(): void {
    if (!this.isDisposed) {
      Signal.disconnectReceiver(this);
      this._live.dispose();
      super.dispose();
    }
  }

  /** Go where the binding leads: to its dashboard, or to the one that comes after it. */
  private _follow(): void {
    const { dashboards } = this._options.services;
    // What the user keeps on screen stays until it is let go.
    const isKept = this._live.isFrozen && dashboards.get(this._binding.dashboard) === undefined;
    const next = isKept ? undefined : clusterFor(this._binding, dashboards.all);
    const wasLive = this._dashboard?.state === 'live';
    this._dashboard = next;
    if (next !== undefined) {
      this._binding = bindingOf(next);
    }
    if (next?.state !== 'unreachable') {
      this._silentSince = 0;
    } else if (this._silentSince === 0) {
      this._silentSince = Date.now();
    }
    const isDrawn = next?.kind === 'diagnostics' && this._hasPlot;
    this._live.setTarget(isDrawn ? next.id : null);
    if (!wasLive && next?.state === 'live') {
      this._live.retry();
    }
    this._present();
  }

  private get _hasPlot(): boolean {
    // A dashboard that has just been announced has not told its plots yet.
    const plots = this._dashboard?.plots ?? [];
    return plots.length === 0 || plots.some(({ name }) => name === this.plot);
  }

  private _present(): void {
    const { dashboards } = this._options.services;
    const tag = dashboards.tag(this._binding.dashboard);
    this._live.setTrouble(this._trouble());
    this._live.setTitles(this.heading, this.dashboardName, tag);
    this._changed.emit();
  }

  /** Reasons outside the plot's own connection: no server, no dashboard, a kernel that is busy. */
  private _trouble(): ITrouble | null {
    const { dashboards, trans } = this._options.services;
    const { control } = this._live;
    const own = this._dashboard;
    if (dashboards.feedState === 'missing') {
      return { state: 'offline', message: missingServer(trans) };
    }
    if (dashboards.feedState === 'lost' && control === null) {
      const message = trans.__(
        'The Jupyter server does not answer. This plot returns by itself when it does.'
      );
      return { state: 'offline', message };
    }
    if (own === undefined) {
      return this.missing === '' ? null : { state: 'offline', message: this.missing };
    }
    if (own.state === 'unreachable') {
      const message = own.reason ?? trans.__('%1 does not answer.', this.dashboardName);
      return { state: 'stale', message, since: this._silentSince };
    }
    if (own.kind === 'stock' || !this._hasPlot) {
      const message =
        own.kind === 'stock'
          ? trans.__(
              '%1 serves Dask’s own pages. Open this plot in a browser tab.',
              this.dashboardName
            )
          : trans.__(
              '%1 has no plot “%2”. Close this pane, or update dask_diag_lab there.',
              this.dashboardName,
              this.heading
            );
      return { state: 'offline', message };
    }
    // A plot that is connected knows more of its end; one of a kernel that stopped never hears.
    const knows = control?.state === 'closed' || control?.state === 'lost';
    return own.state === 'stale' && !knows && control !== null
      ? { state: 'stale', message: staleMessage(own, dashboards.goneAt(own.id), trans) }
      : null;
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _opened = new Signal<this, IOpening>(this);
  private _binding: IBinding;
  private _dashboard: IKnownDashboard | undefined;
  private _silentSince = 0;
}

function livePlot({ plot, services, arguments: given }: IPlotWidgetOptions): LivePlot {
  const { look, trans, server, loader } = services;
  return new LivePlot({
    plot,
    arguments: given ?? NO_ARGUMENTS,
    look,
    trans,
    open: (dashboard, name, colors, shown) =>
      openSession(server.relayed(dashboard), loader, trans, name, colors, shown)
  });
}

/** Say why a cluster gives no more data. */
export function staleMessage(
  { closed_at: closedAt, reason }: Pick<IKnownDashboard, 'closed_at' | 'reason'>,
  goneAt: number | undefined,
  trans: IPlotServices['trans']
): string {
  return closedAt === undefined
    ? (reason ?? closedMessage(goneAt ?? Date.now(), null, trans))
    : closedMessage(closedAt * 1000, reason, trans);
}

export function missingServer(trans: IPlotServices['trans']): string {
  return trans.__(
    'The server part of dask_diag_lab does not answer. Install it in the environment that runs Jupyter and restart the server.'
  );
}

/** A title for a plot whose dashboard is not there to tell it. */
export function titleFromName(name: string): string {
  const spaced = name.replace(/-/g, ' ');
  return spaced.charAt(0).toLocaleUpperCase() + spaced.slice(1);
}
