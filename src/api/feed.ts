/** Keeps the list of dashboards coming: a websocket that pushes; where none opens, polling by GET. */

import type { IDisposable } from '@lumino/disposable';
import { Poll } from '@lumino/polling';
import { Signal, type ISignal } from '@lumino/signaling';

import { messageOf } from '../plot/text';
import { listAfter, type IDashboard } from './protocol';
import { RequestError, type Server } from './server';

/**
 * How the list reaches us.
 *
 * `live` by socket; `polled` by GET, as no socket opens; `missing`: the server extension is not
 * there; `lost`: nothing answers.
 */
export type FeedState = 'connecting' | 'live' | 'polled' | 'missing' | 'lost';

/** A proxy may hold the upgrade open for ever: without a first message by then there is no socket. */
const CONNECT_TIMEOUT_MS = 10_000;

export class DashboardsFeed implements IDisposable {
  constructor(
    private readonly _server: Server,
    private readonly _connectTimeoutMs = CONNECT_TIMEOUT_MS
  ) {
    this._poll = new Poll({
      name: 'dask-diag-lab:dashboards',
      auto: false,
      factory: () => this._connect(),
      frequency: { interval: 500, backoff: true, max: 30_000 },
      standby: 'when-hidden'
    });
  }

  /** A new list arrived. */
  get received(): ISignal<this, readonly IDashboard[]> {
    return this._received;
  }

  get stateChanged(): ISignal<this, void> {
    return this._stateChanged;
  }

  get state(): FeedState {
    return this._state;
  }

  /** Why the list does not come; '' when it does. */
  get problem(): string {
    return this._problem;
  }

  get isDisposed(): boolean {
    return this._poll.isDisposed;
  }

  start(): void {
    void this._poll.start();
  }

  dispose(): void {
    if (!this.isDisposed) {
      this._poll.dispose();
      this._socket?.close();
      Signal.clearData(this);
    }
  }

  /** Open a socket; without one ask by GET and reject, so that the poll tries both again later. */
  private async _connect(): Promise<void> {
    try {
      await this._opened();
      void this._poll.stop();
    } catch {
      await this._ask();
      throw new Error('No socket opens.');
    }
  }

  /** Resolves with the first message; before it a proxy may take sockets and close them at once. */
  private _opened(): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = new this._server.settings.WebSocket(this._server.eventsUrl);
      let list: readonly IDashboard[] | null = null;
      const end = (): void => {
        clearTimeout(timer);
        socket.onmessage = socket.onclose = null;
        socket.close();
        this._socket = null;
        reject(new Error('The socket closed.'));
        if (list !== null && !this.isDisposed) {
          void this._poll.start();
        }
      };
      const timer = setTimeout(end, this._connectTimeoutMs);
      socket.onclose = end;
      socket.onerror = () => undefined; // `close` follows
      socket.onmessage = ({ data }) => {
        clearTimeout(timer);
        try {
          list = listAfter(list, JSON.parse(String(data)));
        } catch (error) {
          this._setState('lost', messageOf(error, this._server.trans));
          end();
          return;
        }
        this._received.emit(list);
        this._setState('live', '');
        resolve();
      };
      this._socket = socket;
    });
  }

  private async _ask(): Promise<void> {
    try {
      const list = await this._server.dashboards();
      if (!this.isDisposed) {
        this._received.emit(list);
        this._setState('polled', '');
      }
    } catch (error) {
      const isMissing = error instanceof RequestError && error.status === 404;
      this._setState(isMissing ? 'missing' : 'lost', messageOf(error, this._server.trans));
    }
  }

  private _setState(state: FeedState, problem: string): void {
    if (!this.isDisposed && (state !== this._state || problem !== this._problem)) {
      this._state = state;
      this._problem = problem;
      this._stateChanged.emit();
    }
  }

  private readonly _poll: Poll;
  private readonly _received = new Signal<this, readonly IDashboard[]>(this);
  private readonly _stateChanged = new Signal<this, void>(this);
  private _state: FeedState = 'connecting';
  private _problem = '';
  private _socket: WebSocket | null = null;
}
