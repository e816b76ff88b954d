/** A live plot of one of the dashboards of this Jupyter server, for panes and for cells. */

import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type { IKnownDashboard } from '../api/dashboards';
import type { IPlot } from '../api/protocol';
import { clusterFor, newClusters, peersOf, type IOrigin, type Peer } from '../plot/clusters';
import {
  isSameArguments,
  isText,
  NO_ARGUMENTS,
  type Fields,
  type IOpening,
  type PlotArguments
} from '../plot/control';
import { LivePlot } from '../plot/live';
import { openSession } from '../plot/session';
import { closedMessage, type ITrouble } from '../plot/state';
import type { ITranslate } from '../plot/text';
import { CommandIDs } from '../tokens';
import { openFrame } from './frame';
import type { IPlotServices } from './services';

/** What a plot remembers of its dashboard; plain JSON, survives a page reload. */
export interface IBinding extends IOrigin {
  /** What it was called. */
  readonly name: string;
}

/** Return the binding of a plot to a dashboard. */
export function bindingOf(dashboard: IKnownDashboard): IBinding {
  const { id, kind, kernel_id: kernel, notebook, shownName: name } = dashboard;
  return { dashboard: id, kind, kernel, notebook, name };
}

/** Return the binding that saved arguments hold, or null when they hold none. */
export function savedBinding(value: unknown): IBinding | null {
  // Any object has string keys.
  const { dashboard, kind, kernel, notebook, name, peers } = Object(value) as Fields;
  const text = (given: unknown): string | null => (isText(given) ? given : null);
  return isText(dashboard)
    ? {
        dashboard,
        kind: kind === 'stock' ? kind : 'diagnostics',
        kernel: text(kernel),
        notebook: text(notebook),
        name: text(name) ?? '',
        ...(Array.isArray(peers) && { peers: peers.filter(isPeer) })
      }
    : null;
}

function isPeer(value: unknown): value is Peer {
  const { id, name } = Object(value) as Fields;
  return isText(id) && isText(name);
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
    readonly live = livePlot(_options)
  ) {
    super({ node: live.node });
    const { plot, binding, services } = _options;
    this.plot = plot;
    this.binding = binding;
    this.isStock = binding.kind === 'stock';
    live.onPresented = () => this.changed.emit();
    live.onOpening = opening => this.opened.emit(opening);
    services.dashboards.changed.connect(this._follow, this);
    services.lookChanged.connect(() => live.setLook(services.look), this);
    this._follow();
  }

  readonly plot: string;

  /** True for a plot of Dask's own dashboard; it goes to none of ours, nor the other way. */
  readonly isStock: boolean;

  /** Where it belongs; set by `rebind`, and when it goes on with the next cluster. */
  binding: IBinding;

  /** The dashboard that is shown, where it is in the list. */
  dashboard: IKnownDashboard | undefined;

  /** Something that is shown, the dashboard, or what it shows of many changed. */
  readonly changed = new Signal<this, void>(this);

  /** A click in the picture asked for another plot of the same dashboard. */
  readonly opened = new Signal<this, IOpening>(this);

  get dashboardName(): string {
    const { trans } = this._options.services;
    return this.dashboard?.shownName || this.binding.name || trans.__('this plot');
  }

  /** The plot as its dashboard told it last; only its name before. */
  get info(): IPlot {
    const { plot: name } = this;
    this._info = this.dashboard?.plots.find(one => one.name === name) ?? this._info;
    return this._info ?? { name, title: titleFromName(name), group: '', description: '' };
  }

  /** What the plot is called, with what it shows of many: `Profile: inc`. */
  get heading(): string {
    return this.live.heading;
  }

  get arguments(): PlotArguments {
    return this.live.arguments;
  }

  /** Show something else of the same plot, in place. */
  choose(given: PlotArguments): void {
    if (!isSameArguments(given, this.arguments)) {
      this.live.show(given);
      this._present();
    }
  }

  /** Show the same plot of another dashboard. */
  rebind(binding: IBinding): void {
    this.binding = binding;
    this._follow();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      Signal.disconnectReceiver(this);
      this._options.services.dashboards.setShown(this, null);
      this.live.dispose();
      super.dispose();
    }
  }

  /** Go where the binding leads: to its dashboard, or to the one that comes after it. */
  private _follow(): void {
    const { all, connections } = this._options.services.dashboards;
    const { isFrozen } = this.live.control ?? {};
    const next = clusterFor({ ...this.binding, isFrozen }, all);
    this.dashboard = next;
    if (next !== undefined) {
      this.binding = { ...bindingOf(next), peers: peersOf(this.binding, next, all) };
    }
    this._options.services.dashboards.setShown(this, this.binding.dashboard);
    const isSilent = next?.state === 'unreachable';
    this._silentSince = isSilent ? this._silentSince || Date.now() : 0;
    // A frame does not come back by itself from what has cut it off: it is made anew.
    // Where the way to ours changes it is made anew, too; the last picture stays until then.
    const isDirect = String(next?.channel === undefined);
    const epoch = this.isStock ? [next?.scheduler.address, connections].join() : isDirect;
    const isThere = this._hasPlot && !(this.isStock && isSilent);
    this.live.setTarget(isThere ? (next?.id ?? null) : null, epoch);
    this._present();
  }

  private get _hasPlot(): boolean {
    // A dashboard that has just been announced has not told its plots yet.
    const { kind, plots = [] } = this.dashboard ?? {};
    const isKnown = plots.length === 0 || plots.some(({ name }) => name === this.plot);
    return (kind === 'stock') === this.isStock && isKnown;
  }

  private _present(): void {
    const { dashboardName, isStock } = this;
    const { dashboards, trans } = this._options.services;
    const tag = dashboards.tag(this.binding.dashboard, dashboardName);
    const trouble = this._question() ?? this._trouble();
    const transport = this.dashboard?.channel ? trans.__('through the kernel’s messages') : '';
    const plotTitle = trans.__(this.info.title);
    const around = { plotTitle, dashboardName, trouble, isStock, transport };
    // What is in a frame says what it shows, not whose it is.
    const isNamed = !isStock || this.dashboard?.shown_with !== undefined;
    const whose = isNamed ? dashboardName : trans.__('Dask’s dashboard of %1', dashboardName);
    this.live.setSurroundings(around, isStock ? whose : '', tag);
  }

  /** Which of the new clusters it goes on with, where neither name nor place tells. */
  private _question(): ITrouble | null {
    const { dashboards, trans } = this._options.services;
    const isOver = this.dashboard === undefined || this.dashboard.state === 'stale';
    const next = isOver ? newClusters(this.binding, dashboards.all) : [];
    const message = trans.__('Which cluster do the plots of %1 follow now?', this.dashboardName);
    const choices = next.map(one => ({
      id: one.id,
      label: trans.__('Follow %1', one.shownName),
      choose: () => this._answer(one)
    }));
    return next.length === 0 ? null : { state: 'stale', message, choices };
  }

  /** Reasons outside the plot's own connection: no server, no dashboard, a kernel that is busy. */
  private _trouble(): ITrouble | null {
    const { dashboards, trans } = this._options.services;
    const { dashboard: own, dashboardName: name } = this;
    const { control } = this.live;
    const offline = (message: string): ITrouble => ({ state: 'offline', message });
    if (dashboards.feedState === 'missing') {
      return offline(missingServer(trans));
    }
    if (dashboards.feedState === 'lost' && (control === null || this.isStock)) {
      return offline(
        trans.__('The Jupyter server does not answer. This plot returns by itself when it does.')
      );
    }
    if (own === undefined) {
      const message = this.binding.notebook
        ? '%1 has no cluster at the moment. Run the cell that makes the client again; this plot returns by itself.'
        : '%1 is not listed any more: its cluster has ended, or it was removed. This plot returns by itself when it does.';
      return dashboards.isKnown ? offline(trans.__(message, name)) : null;
    }
    if (own.state === 'unreachable') {
      const message = own.reason ?? trans.__('%1 does not answer.', name);
      return { state: 'stale', message, since: this._silentSince };
    }
    if (!this._hasPlot) {
      const message = this.isStock
        ? '%1 has no plot “%2”.'
        : '%1 has no plot “%2” for a pane. Open it in a browser tab, or update dask_diag_lab there.';
      return offline(trans.__(message, name, this.heading));
    }
    if (this.isStock && dashboards.isAsking) {
      const message = trans.__(
        'Dask’s own plots need websockets, which something between this browser and Jupyter, such as a proxy, does not let through.'
      );
      return { state: 'stale', message };
    }
    // A plot that is connected knows more of its end; one of a kernel that stopped never hears.
    const knows = control?.state === 'closed' || control?.state === 'lost';
    return own.state === 'stale' && !knows && control !== null
      ? { state: 'stale', message: staleMessage(own, trans) }
      : null;
  }

  /** The answer holds for all panes of the cluster that has ended. */
  private _answer(next: IKnownDashboard): void {
    const { dashboard: from } = this.binding;
    this.rebind(bindingOf(next));
    const { commands } = this._options.services;
    void commands.execute(CommandIDs.switchCluster, { from, dashboard: next.id });
  }

  private _silentSince = 0;
  private _info: IPlot | undefined;
}

function livePlot({ plot, services, arguments: given }: IPlotWidgetOptions): LivePlot {
  const { dashboards, look, trans, server, loader } = services;
  return new LivePlot({
    plot,
    arguments: given ?? NO_ARGUMENTS,
    look,
    trans,
    open: (id, name, colors, shown) => {
      const dashboard = dashboards.get(id);
      const known = dashboard?.plots.find(one => one.name === name);
      return dashboard?.kind === 'stock' && known
        ? openFrame(server, dashboard, known)
        : openSession(server.relayed(id), loader, trans, name, colors, shown);
    }
  });
}

/** Say why a cluster gives no more data. */
export function staleMessage(
  { closed_at: closedAt, reason }: Pick<IKnownDashboard, 'closed_at' | 'reason'>,
  trans: ITranslate
): string {
  return closedAt === undefined
    ? (reason ?? trans.__('The cluster has ended.'))
    : closedMessage(closedAt * 1000, reason, trans);
}

export function missingServer(trans: ITranslate): string {
  return trans.__(
    'The server part of dask_diag_lab does not answer. Install it in the environment that runs Jupyter and restart the server.'
  );
}

/** A title for a plot whose dashboard is not there to tell it. */
export function titleFromName(name: string): string {
  const spaced = name.replace(/-/g, ' ');
  return spaced.charAt(0).toLocaleUpperCase() + spaced.slice(1);
}
