/** A plot that is bound to a dashboard, whoever draws it: which one it shows, and what is wrong with that. */

import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { clusterFor, newClusters, peersOf, type IOrigin, type Peer } from '../dashboards/clusters';
import type { IKnownDashboard } from '../dashboards/dashboards';
import { closedMessage, type ISurroundings, type ITrouble, type Presentation } from '../plot/state';
import { isText, type Fields, type PlotArguments } from '../protocol/control';
import type { IPlot } from '../protocol/dashboard';
import type { ITranslate } from '../text';
import { CommandIDs } from '../tokens';
import { runCommand, type IPlotServices } from './services';

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

export interface IPlotOptions {
  readonly plot: string;
  readonly binding: IBinding;
  readonly services: IPlotServices;
  /** What to show of many; no choice when left out. */
  readonly arguments?: PlotArguments;
}

export abstract class BoundPlot extends Widget {
  constructor(
    protected readonly options: IPlotOptions,
    node: HTMLElement
  ) {
    super({ node });
    const { plot, binding, services } = options;
    this.plot = plot;
    this.binding = binding;
    services.dashboards.changed.connect(this.follow, this);
  }

  readonly plot: string;

  /** Where it belongs; set by `rebind`, and when it goes on with the next cluster. */
  binding: IBinding;

  /** The dashboard that is shown, where it is in the list. */
  dashboard: IKnownDashboard | undefined;

  /** Something that is shown, the dashboard, or what it shows of many changed. */
  readonly changed = new Signal<this, void>(this);

  /** What is shown now beside or instead of the picture. */
  abstract readonly presentation: Presentation;
  /** What it is called, with what it shows of many: `Profile: inc`. */
  abstract readonly heading: string;
  /** What it shows of many. */
  abstract readonly arguments: PlotArguments;

  /** Connect anew. */
  abstract reload(): void;

  get dashboardName(): string {
    const { trans } = this.options.services;
    return this.dashboard?.shownName || this.binding.name || trans.__('this plot');
  }

  /** The plot as its dashboard told it last; only its name before. */
  get info(): IPlot {
    const { plot: name } = this;
    this._info = this.dashboard?.plots.find(one => one.name === name) ?? this._info;
    return this._info ?? { name, title: titleFromName(name), group: '', description: '' };
  }

  /** Show the same plot of another dashboard. */
  rebind(binding: IBinding): void {
    this.binding = binding;
    this.follow();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      Signal.disconnectReceiver(this);
      this.options.services.dashboards.setShown(this, null);
      super.dispose();
    }
  }

  /** Go where the binding leads: to its dashboard, or to the one that comes after it. */
  protected follow(): void {
    const { dashboards } = this.options.services;
    const { isFrozen } = this;
    const next = clusterFor({ ...this.binding, isFrozen }, dashboards.all);
    this.dashboard = next;
    if (next !== undefined) {
      this.binding = { ...bindingOf(next), peers: peersOf(this.binding, next, dashboards.all) };
    }
    dashboards.setShown(this, this.binding.dashboard);
    const isSilent = next?.state === 'unreachable';
    this._silentSince = isSilent ? this._silentSince || Date.now() : 0;
    this.connect(this._hasPlot ? next : undefined);
    this.surround();
  }

  /** Show a dashboard from now on; undefined leaves the last picture as it is. */
  protected abstract connect(dashboard: IKnownDashboard | undefined): void;

  /** Present what is around the plot. */
  protected abstract surround(): void;

  /** Whether it stays with its cluster while that lives. */
  protected abstract readonly isFrozen: boolean;

  /** Whether it goes on though the Jupyter server does not answer. */
  protected abstract readonly isConnected: boolean;

  /** Whether a cluster's end is said by what draws it, or shows nothing to say it of. */
  protected abstract readonly knowsEnd: boolean;

  protected get around(): ISurroundings {
    const { dashboardName } = this;
    const plotTitle = this.options.services.trans.gettext(this.info.title);
    return { plotTitle, dashboardName, trouble: this._question() ?? this.trouble() };
  }

  /** Reasons outside the plot's own connection: no server, no dashboard, a kernel that is busy. */
  protected trouble(): ITrouble | null {
    const { dashboards, trans } = this.options.services;
    const { dashboard: own, dashboardName: name } = this;
    const offline = (message: string): ITrouble => ({ state: 'offline', message });
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

  private get _hasPlot(): boolean {
    // A dashboard that has just been announced has not told its plots yet.
    const { kind = '', plots = [] } = this.dashboard ?? {};
    const isKnown = plots.length === 0 || plots.some(({ name }) => name === this.plot);
    return kind === (this.options.binding.kind ?? 'diagnostics') && isKnown;
  }

  /** Which of the new clusters it goes on with, where neither name nor place tells. */
  private _question(): ITrouble | null {
    const { dashboards, trans } = this.options.services;
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

  /** The answer holds for all panes of the cluster that has ended. */
  private _answer(next: IKnownDashboard): void {
    const { dashboard: from } = this.binding;
    this.rebind(bindingOf(next));
    const { commands } = this.options.services;
    runCommand(commands, CommandIDs.switchCluster, { from, dashboard: next.id });
  }

  private _silentSince = 0;
  private _info: IPlot | undefined;
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
