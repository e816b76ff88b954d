/** The dashboards there are, by id, with the names people know them by; the one list of the page. */

import { Token } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';

import type { DashboardsFeed, FeedState } from '../api/feed';
import { TokenIDs } from '../tokens';
import type { IDashboard } from '../wire';
import type { ISeen } from './binding';
import { shownNames } from './names';
import type { INotebooks } from './notebooks';
import type { Tags } from './tags';

/** A dashboard with what this page knows about it. */
export interface IKnownDashboard extends IDashboard {
  /** The notebook's file name where there is one; unique in the list. */
  readonly shownName: string;
  /** The path of the notebook whose kernel it lives in. */
  readonly notebook: string | null;
  /** Which colour tag it wears, from 0; stays with it, also when the page is loaded again. */
  readonly tag: number;
  /** When this page first and last saw it live, in ms since the epoch; 0 when it never did. */
  readonly firstSeen: number;
  readonly lastLive: number;
}

/** The service by which others see dashboards come and go. */
export interface IDashboards {
  /** In order of appearance. */
  readonly all: readonly IKnownDashboard[];
  /** Something changed: the list, a name, a state. */
  readonly changed: ISignal<IDashboards, void>;
  readonly feedState: FeedState;
  /** Why the list does not come, in words. */
  readonly problem: string;
  /** False until the first list arrived. */
  readonly isKnown: boolean;
  get(id: string): IKnownDashboard | undefined;
  /** When this page saw it, also of one that left the list; undefined when it never did. */
  seen(id: string): ISeen | undefined;
}

export const IDashboards = new Token<IDashboards>(
  TokenIDs.dashboards,
  'The Dask dashboards that this Jupyter server knows, kept up to date.'
);

/** What is remembered of each id, also after it left the list. */
interface IMemory extends ISeen {
  readonly tag: number;
  lastLive: number;
}

/** How many ids are remembered; a page that lives for months sees many clusters. */
const REMEMBERED = 500;

export class DashboardsModel implements IDashboards, IDisposable {
  constructor(
    private readonly _feed: DashboardsFeed,
    private readonly _notebooks: INotebooks,
    private readonly _tags: Tags,
    private readonly _now: () => number = Date.now
  ) {
    _feed.received.connect(this._onReceived, this);
    _feed.stateChanged.connect(this._onFeedState, this);
    _notebooks.changed.connect(this._rebuild, this);
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
    return this._isKnown;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  get(id: string): IKnownDashboard | undefined {
    return this._all.find(dashboard => dashboard.id === id);
  }

  seen(id: string): ISeen | undefined {
    return this._memory.get(id);
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    Signal.disconnectReceiver(this);
    Signal.clearData(this);
  }

  private _onReceived(_: DashboardsFeed, dashboards: readonly IDashboard[]): void {
    this._keepLive();
    this._isKnown = true;
    this._received = dashboards;
    for (const dashboard of dashboards) {
      this._remember(dashboard);
    }
    this._rebuild();
  }

  private _onFeedState(): void {
    this._keepLive();
    this._wasUp = this._feed.state === 'live' || this._feed.state === 'polled';
    this._changed.emit();
  }

  /** A list without a word of change was true up to now, unless its feed had a break. */
  private _keepLive(): void {
    for (const { id, state } of this._wasUp ? this._received : []) {
      const memory = this._memory.get(id);
      if (memory !== undefined && state === 'live') {
        memory.lastLive = this._now();
      }
    }
  }

  private _rebuild(): void {
    const notebooks = this._received.map(one =>
      one.kernel_id === null ? null : this._notebooks.pathOf(one.kernel_id)
    );
    const names = shownNames(this._received.map((one, i) => notebooks[i] ?? one.name));
    this._all = this._received
      .map((one, i) => ({
        ...one,
        ...(this._memory.get(one.id) ?? { tag: 0, firstSeen: 0, lastLive: 0 }),
        shownName: names[i] ?? one.name,
        notebook: notebooks[i] ?? null
      }))
      .sort((a, b) => a.firstSeen - b.firstSeen); // of those that were there before: as they began
    this._changed.emit();
  }

  private _remember(dashboard: IDashboard): void {
    const now = this._now();
    let memory = this._memory.get(dashboard.id);
    if (memory === undefined) {
      const listed = this._received.map(one => one.id);
      memory = { tag: this._tags.of(dashboard.id, listed), firstSeen: now, lastLive: 0 };
      this._memory.set(dashboard.id, memory);
      this._forgetOldest();
    }
    if (dashboard.state === 'live') {
      memory.lastLive = now;
    }
  }

  private _forgetOldest(): void {
    const present = new Set(this._received.map(one => one.id));
    for (const id of this._memory.keys()) {
      if (this._memory.size <= REMEMBERED) {
        return;
      }
      if (!present.has(id)) {
        this._memory.delete(id);
      }
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _memory = new Map<string, IMemory>();
  private _received: readonly IDashboard[] = [];
  private _all: readonly IKnownDashboard[] = [];
  private _isKnown = false;
  /** The feed is up since its last change of state. */
  private _wasUp = false;
  private _isDisposed = false;
}
