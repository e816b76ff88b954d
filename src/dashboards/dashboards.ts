/** The dashboards there are, by id, with the names people know them by; the one list of the page. */

import { PathExt } from '@jupyterlab/coreutils';
import { ServerConnection, type Session } from '@jupyterlab/services';
import { Token } from '@lumino/coreutils';
import { Poll } from '@lumino/polling';
import { Signal, type ISignal } from '@lumino/signaling';

import { listAfter, type IDashboard } from '../protocol/dashboard';
import { messageOf } from '../text';
import type { KernelChannels } from '../transport/channel';
import type { IPlotServer } from '../transport/remote';
import type { Server } from '../transport/server';
import { ClusterTags, clustersOf, type ITag } from './clusters';

/** A dashboard with what this page knows about it. */
export interface IKnownDashboard extends IDashboard {
  /** The way to it through its kernel's messages, where the relay leads to it not. */
  readonly channel?: IPlotServer | undefined;
  /** The notebook's file name where there is one; unique in the list. */
  readonly shownName: string;
  /** The path of the notebook whose kernel it lives in. */
  readonly notebook: string | null;
}

/**
 * Whether the list comes.
 *
 * `missing`: the server extension is not there; `lost`: nothing answers.
 */
export type FeedState = 'connecting' | 'live' | 'missing' | 'lost';

/** A proxy may hold an upgrade open for ever; then the list is asked for, within 5 s. */
const CONNECT_TIMEOUT_MS = 4000;

/** What a kernel calls itself by: its document, as that was called when it began, or a number. */
const UNNAMED = /\.ipynb$|^(kernel|python) /;

/** The longest waits between attempts: while nothing answers, and while asking is all that works. */
const LOST_WAIT_MS = 30_000;
const ASKING_WAIT_MS = 4000;

/** The list, kept up to date by a websocket that pushes; where none opens, by asking. */
export class DashboardsModel implements IDashboards {
  constructor(
    private readonly _server: Server,
    private readonly _sessions: Pick<Session.IManager, 'running' | 'runningChanged'>,
    private readonly _channels: Pick<KernelChannels, 'all' | 'ask' | 'changed'>,
    private readonly _connectTimeoutMs = CONNECT_TIMEOUT_MS
  ) {
    _sessions.runningChanged.connect(this._rebuild, this);
    _channels.changed.connect(this._rebuild, this);
    this._poll = new Poll({
      name: 'dask-diag-lab:dashboards',
      factory: () => this._follow(),
      frequency: frequency(LOST_WAIT_MS),
      standby: 'when-hidden'
    });
  }

  all: readonly IKnownDashboard[] = [];
  feedState: FeedState = 'connecting';
  problem = '';
  isAsking = false;
  connections = 0;

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isKnown(): boolean {
    return this._received !== null;
  }

  get(id: string): IKnownDashboard | undefined {
    return this.all.find(one => one.id === id);
  }

  tag(id: string, name = ''): ITag | null {
    const owner = this._ownerOf(id);
    const open = new Set(this._owners.filter(one => this._tags.get(one)));
    const tag = open.size > 1 && open.has(owner) && this._tags.get(owner);
    return tag ? { ...tag, title: this.get(owner)?.shownName ?? name } : null;
  }

  setShown(plot: object, id: string | null): void {
    if (id !== (this._shown.get(plot) ?? null)) {
      this._shown.delete(plot);
      if (id !== null) {
        this._shown.set(plot, id);
      }
      this._updateTags();
    }
  }

  dispose(): void {
    this._poll.dispose();
    this._socket?.close();
    Signal.clearData(this);
  }

  /** Lasts as long as a socket; without one asks, and rejects so that the poll waits longer. */
  private async _follow(): Promise<void> {
    if (await this._listen()) {
      return;
    }
    try {
      const dashboards = await this._server.dashboards();
      this._unopened += 1;
      this._take(dashboards, this.feedState !== 'live', this._unopened > 1);
    } catch (error) {
      const isMissing =
        error instanceof ServerConnection.ResponseError && error.response.status === 404;
      this._setState(isMissing ? 'missing' : 'lost', messageOf(error, this._server.trans));
    }
    throw new Error('No socket opens.');
  }

  /** Resolves when the socket has closed, with whether it sent a list that is understood. */
  private _listen(): Promise<boolean> {
    const socket = new this._server.settings.WebSocket(this._server.eventsUrl);
    let list: readonly IDashboard[] | null = null;
    this._socket = socket;
    const timer = setTimeout(() => socket.close(), this._connectTimeoutMs);
    return new Promise(resolve => {
      socket.onclose = () => {
        clearTimeout(timer);
        resolve(list !== null);
      };
      socket.onerror = () => undefined; // `close` follows
      socket.onmessage = ({ data }) => {
        clearTimeout(timer);
        this._unopened = 0;
        try {
          const isFirst = list === null;
          list = listAfter(list, JSON.parse(String(data)));
          this._take(list, isFirst, false);
        } catch {
          list = null; // asking tells what is wrong
          socket.close();
        }
      };
    });
  }

  private _take(dashboards: readonly IDashboard[], isFirst: boolean, isAsking: boolean): void {
    this._received = dashboards;
    this.connections += Number(isFirst);
    if (isAsking !== this.isAsking) {
      this.isAsking = isAsking;
      this._poll.frequency = frequency(isAsking ? ASKING_WAIT_MS : LOST_WAIT_MS);
    }
    if (isAsking) {
      this._channels.ask(dashboards.filter(one => one.kind !== 'stock').map(({ id }) => id));
    }
    this._setState('live', '');
    this._rebuild();
  }

  private _rebuild(): void {
    for (const { kernel, path } of this._sessions.running()) {
      if (kernel) {
        this._notebooks.set(kernel.id, path); // stays known: a dashboard may outlive its session
      }
    }
    const listed = this._received ?? [];
    const ids = new Set(listed.map(({ id }) => id));
    const { all } = this._channels;
    // The relay leads to what the server lists, where websockets pass.
    const channels = this.isAsking ? all : [];
    const received = [
      ...listed.map(one => ({
        ...one,
        channel: channels.find(({ id }) => id === one.id)?.channel
      })),
      ...all.filter(({ id }) => !ids.has(id))
    ];
    const clusters = clustersOf(received);
    const names = shownNames(
      clusters.map(one => this._notebookOf(one) ?? one.name),
      clusters.map(one => this._prefixOf(one))
    );
    this.all = received.map(one => {
      const owner = clusters.includes(one) ? one.id : one.shown_with;
      const name = names[clusters.findIndex(({ id }) => id === owner)] ?? one.name;
      return {
        ...one,
        shownName: owner === one.id ? name : this._server.trans.__('Dask’s dashboard of %1', name),
        notebook: this._notebookOf(one)
      };
    });
    this._updateTags();
  }

  private _updateTags(): void {
    const open = new Set(this._owners);
    const named = clustersOf(this.all)
      .filter(({ id }) => open.has(id))
      .map(one => ({ ...one, name: one.shownName }));
    // One that is gone keeps its mark for its plots, until they go on.
    const kept = [...open].filter(id => this._tags.get(id)).map(id => ({ id, name: '' }));
    this._tags.update([...named, ...kept]);
    this._changed.emit();
  }

  /** The id of the cluster in whose entry a dashboard is listed. */
  private _ownerOf(id: string): string {
    return this.get(this.get(id)?.shown_with ?? '')?.id ?? id;
  }

  /** The name that the user has given the cluster, before that of its notebook. */
  private _prefixOf(one: IDashboard): string {
    const file = this._notebookOf(one); // without one, the name is the whole of it
    const isNamed = file !== null && one.name !== PathExt.basename(file) && !UNNAMED.test(one.name);
    return isNamed && one.kind !== 'stock' ? `${one.name} · ` : ''; // that has an address
  }

  /** The clusters of the plots that are open. */
  private get _owners(): readonly string[] {
    return [...this._shown.values()].map(one => this._ownerOf(one));
  }

  private _notebookOf(dashboard: IDashboard): string | null {
    return this._notebooks.get(dashboard.kernel_id ?? '') ?? null;
  }

  private _setState(state: FeedState, problem: string): void {
    if (state !== this.feedState || problem !== this.problem) {
      this.feedState = state;
      this.problem = problem;
      this._changed.emit();
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _poll: Poll;
  /** The path of each kernel's notebook. */
  private readonly _notebooks = new Map<string, string>();
  /** The dashboard of each plot that is open. */
  private readonly _shown = new Map<object, string>();
  private readonly _tags = new ClusterTags();
  private _received: readonly IDashboard[] | null = null;
  private _socket: WebSocket | null = null;
  /** Attempts in a row that brought nothing, though the server answers: one may fail by chance. */
  private _unopened = 0;
}

/** The service by which others see dashboards come and go. */
export interface IDashboards {
  /** Something changed: the list, a name, a state. */
  readonly changed: ISignal<IDashboards, void>;
  /** In the order in which they began. */
  readonly all: readonly IKnownDashboard[];
  /** False until the first list arrived. */
  readonly isKnown: boolean;
  readonly feedState: FeedState;
  /** Why the list does not come; '' when it does. */
  readonly problem: string;
  /** True while the list is asked for, because no websocket opens; plots come as it can be then. */
  readonly isAsking: boolean;
  /** Counts how often the list began to come: what else was connected may have been cut then. */
  readonly connections: number;

  get(id: string): IKnownDashboard | undefined;

  /**
   * The mark of a dashboard whose plots are open, where those of another cluster are as well.
   *
   * @param name - what it was called, should it be gone.
   */
  tag(id: string, name?: string): ITag | null;

  /** Say which dashboard a plot shows; null for none any more. */
  setShown(plot: object, id: string | null): void;
}

export const IDashboards = new Token<IDashboards>(
  'dask-diag-lab:IDashboards',
  'The Dask dashboards that this Jupyter server knows, kept up to date.'
);

function frequency(max: number): Poll['frequency'] {
  return { interval: 500, backoff: true, max };
}

/**
 * Return names that all differ: a file name where it is unique, else its path, else with a number.
 *
 * @param prefixes - what stands before each.
 */
export function shownNames(
  names: readonly string[],
  prefixes: readonly string[] = []
): readonly string[] {
  const count = (list: readonly string[], name: string): number =>
    list.filter(other => other === name).length;
  const prefixed = (text: string, i: number): string => (prefixes[i] ?? '') + text;
  const full = names.map(prefixed);
  // What has a port is an address, whose path is no file.
  const files = names.map(name => (/:\d+/.test(name) ? name : PathExt.basename(name) || name));
  const short = files.map(prefixed);
  const longer = short.map((name, i) => (count(short, name) > 1 ? (full[i] ?? name) : name));
  return longer.map((name, i) => {
    const earlier = count(longer.slice(0, i), name);
    return earlier === 0 ? name : `${name} (${earlier + 1})`;
  });
}

/**
 * Return the dashboard that a command means, or undefined when several or none could be. Dask's own
 * of a cluster that has ours is meant only by its id.
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
  const clusters = clustersOf(all);
  const isUsable = (one: IKnownDashboard): boolean => one.state !== 'stale';
  const ofKernel = clusters.filter(one => kernel !== undefined && one.kernel_id === kernel);
  const usable = clusters.filter(isUsable);
  const only = usable.length === 1 ? usable : clusters.length === 1 ? clusters : [];
  return ofKernel.filter(isUsable).pop() ?? ofKernel.pop() ?? only[0];
}
