/** The dashboards there are, by id, with the names people know them by; the one list of the page. */

import { PathExt } from '@jupyterlab/coreutils';
import type { Session } from '@jupyterlab/services';
import { Token } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';

import type { ITag } from '../plot/caption';
import { tagOf } from '../plot/clusters';
import { TokenIDs } from '../tokens';
import type { DashboardsFeed, FeedState } from './feed';
import type { IDashboard } from './protocol';

/** A dashboard with what this page knows about it. */
export interface IKnownDashboard extends IDashboard {
  /** The notebook's file name where there is one; unique in the list. */
  readonly shownName: string;
  /** The path of the notebook whose kernel it lives in. */
  readonly notebook: string | null;
}

/** The service by which others see dashboards come and go. */
export interface IDashboards {
  /** In the order in which they began. */
  readonly all: readonly IKnownDashboard[];
  /** Something changed: the list, a name, a state. */
  readonly changed: ISignal<IDashboards, void>;
  readonly feedState: FeedState;
  /** Why the list does not come; '' when it does. */
  readonly problem: string;
  /** False until the first list arrived. */
  readonly isKnown: boolean;
  get(id: string): IKnownDashboard | undefined;
  /** When it left the list or ended, in ms since the epoch; undefined when this page never saw it. */
  goneAt(id: string): number | undefined;
  /** The mark of a dashboard where there are several. */
  tag(id: string): ITag | null;
}

export const IDashboards = new Token<IDashboards>(
  TokenIDs.dashboards,
  'The Dask dashboards that this Jupyter server knows, kept up to date.'
);

export class DashboardsModel implements IDashboards, IDisposable {
  constructor(
    private readonly _feed: DashboardsFeed,
    private readonly _sessions: Pick<Session.IManager, 'running' | 'runningChanged'>
  ) {
    _feed.received.connect(this._onReceived, this);
    _feed.stateChanged.connect(() => this._changed.emit(), this);
    _sessions.runningChanged.connect(this._rebuild, this);
  }

  get all(): readonly IKnownDashboard[] {
    return this._all;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get feedState(): FeedState {
    return this._feed.state;
  }

  get problem(): string {
    return this._feed.problem;
  }

  get isKnown(): boolean {
    return this._received !== null;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  get(id: string): IKnownDashboard | undefined {
    return this._all.find(one => one.id === id);
  }

  goneAt(id: string): number | undefined {
    return this._goneAt.get(id);
  }

  tag(id: string): ITag | null {
    const known = this.get(id);
    const isAlone = known === undefined || this._all.length < 2;
    return isAlone ? null : { ...tagOf(id), title: known.shownName };
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      Signal.disconnectReceiver(this);
      Signal.clearData(this);
    }
  }

  private _onReceived(_: DashboardsFeed, dashboards: readonly IDashboard[]): void {
    const live = new Set(dashboards.filter(one => one.state !== 'stale').map(one => one.id));
    for (const { id, state } of this._received ?? []) {
      if (state !== 'stale' && !live.has(id)) {
        this._goneAt.set(id, Date.now());
      }
    }
    this._received = dashboards;
    this._rebuild();
  }

  private _rebuild(): void {
    for (const { kernel, path } of this._sessions.running()) {
      if (kernel) {
        this._notebooks.set(kernel.id, path); // stays known: a dashboard may outlive its session
      }
    }
    const received = this._received ?? [];
    const notebooks = received.map(one => this._notebooks.get(one.kernel_id ?? '') ?? null);
    const names = shownNames(received.map((one, i) => notebooks[i] ?? one.name));
    this._all = received.map((one, i) => ({
      ...one,
      shownName: names[i] ?? one.name,
      notebook: notebooks[i] ?? null
    }));
    this._changed.emit();
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _goneAt = new Map<string, number>();
  /** The path of each kernel's notebook. */
  private readonly _notebooks = new Map<string, string>();
  private _received: readonly IDashboard[] | null = null;
  private _all: readonly IKnownDashboard[] = [];
  private _isDisposed = false;
}

/** Return names that all differ: a file name where it is unique, else its path, else with a number. */
export function shownNames(names: readonly string[]): readonly string[] {
  const count = (list: readonly string[], name: string): number =>
    list.filter(other => other === name).length;
  const short = names.map(name => PathExt.basename(name) || name);
  const longer = short.map((name, i) => (count(short, name) > 1 ? (names[i] ?? name) : name));
  return longer.map((name, i) => {
    const earlier = count(longer.slice(0, i), name);
    return earlier === 0 ? name : `${name} (${earlier + 1})`;
  });
}

/**
 * Return the dashboard that a command means, or undefined when several or none could be.
 *
 * @param id - the one that was named, if any; it is never replaced by another.
 * @param kernel - the kernel of the notebook in front, if any.
 */
export function meantDashboard(
  all: readonly IKnownDashboard[],
  id: string | undefined,
  kernel: string | undefined
): IKnownDashboard | undefined {
  if (id !== undefined) {
    return all.find(one => one.id === id);
  }
  const isUsable = (one: IKnownDashboard): boolean => one.state !== 'stale';
  const ofKernel = all.filter(one => kernel !== undefined && one.kernel_id === kernel);
  const usable = all.filter(isUsable);
  const only = usable.length === 1 ? usable : all.length === 1 ? all : [];
  return ofKernel.filter(isUsable).pop() ?? ofKernel.pop() ?? only[0];
}
