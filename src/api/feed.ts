/** Keeps the list of dashboards coming: a websocket with retries, one GET where it fails. */

import type { IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';

import { dashboardsOf, WireError, type IDashboard } from '../wire';
import { Backoff } from './backoff';
import { RequestError, type Server } from './server';
import type { IVisibility } from './visibility';
import { errorWords, type ITranslate } from './words';

/**
 * How the list reaches us.
 *
 * `live` by socket; `polled` by GET, as no socket opens; `missing`: the server extension is not
 * there; `lost`: nothing answers; `standby`: the page is hidden and nobody needs the list.
 */
export type FeedState = 'connecting' | 'live' | 'polled' | 'missing' | 'lost' | 'standby';

/** A hidden page keeps its socket this long: switching browser tabs to and fro costs nothing. */
export const STANDBY_AFTER_MS = 60_000;

const BACKOFF = { firstMs: 500, longestMs: 30_000 };

export class DashboardsFeed implements IDisposable {
  constructor(
    private readonly _server: Server,
    private readonly _visibility: IVisibility
  ) {}

  /** A new list arrived. */
  get received(): ISignal<this, readonly IDashboard[]> {
    return this._received;
  }

  get stateChanged(): ISignal<this, FeedState> {
    return this._stateChanged;
  }

  get state(): FeedState {
    return this._state;
  }

  /** Why the list does not come, in words; '' when it does. */
  get problem(): string {
    return this._problem;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  start(): void {
    this._visibility.changed.connect(this._onVisibilityChanged, this);
    this._connect();
    this._restWhenHidden();
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._visibility.changed.disconnect(this._onVisibilityChanged, this);
    clearTimeout(this._standby);
    this._stop();
    Signal.clearData(this);
  }

  private _connect(): void {
    this._stop();
    const socket = new this._server.settings.WebSocket(this._server.eventsUrl);
    this._socket = socket;
    socket.onmessage = event => this._take(event.data);
    socket.onerror = () => undefined; // `close` follows and tells as much
    socket.onclose = () => {
      if (this._socket === socket) {
        this._socket = null;
        void this._fallBack();
      }
    };
  }

  /** The socket is gone: ask once by GET for the list or the reason, then try again later. */
  private async _fallBack(): Promise<void> {
    this._retry = setTimeout(() => this._connect(), this._backoff.next());
    const attempt = this._retry;
    try {
      const answer = await this._server.fetchDashboards();
      if (this._isDisposed || this._retry !== attempt) {
        return;
      }
      this._received.emit(dashboardsOf(answer));
      this._setState('polled', '');
    } catch (error) {
      if (this._isDisposed || this._retry !== attempt) {
        return;
      }
      this._setState(...failureOf(error, this._server.trans));
    }
  }

  private _take(data: unknown): void {
    try {
      const dashboards = dashboardsOf(JSON.parse(String(data)));
      this._backoff.reset(); // not before: a proxy may take sockets and close them at once
      this._received.emit(dashboards);
      this._setState('live', '');
    } catch (error) {
      if (!(error instanceof WireError) && !(error instanceof SyntaxError)) {
        throw error;
      }
      this._setState('lost', errorWords(error, this._server.trans));
    }
  }

  private _onVisibilityChanged(): void {
    this._restWhenHidden();
    if (this._visibility.isVisible && this._socket === null) {
      this._backoff.reset();
      this._connect();
    }
  }

  /** Let go of the list when the page stays hidden, also while the list does not come. */
  private _restWhenHidden(): void {
    clearTimeout(this._standby);
    if (!this._visibility.isVisible) {
      this._standby = setTimeout(() => {
        this._stop();
        this._setState('standby', '');
      }, STANDBY_AFTER_MS);
    }
  }

  private _stop(): void {
    clearTimeout(this._retry);
    this._retry = undefined;
    const socket = this._socket;
    this._socket = null;
    if (socket !== null) {
      socket.onmessage = socket.onopen = socket.onclose = null;
      socket.close();
    }
  }

  private _setState(state: FeedState, problem: string): void {
    if (state === this._state && problem === this._problem) {
      return;
    }
    this._state = state;
    this._problem = problem;
    this._stateChanged.emit(state);
  }

  private readonly _backoff = new Backoff(BACKOFF);
  private readonly _received = new Signal<this, readonly IDashboard[]>(this);
  private readonly _stateChanged = new Signal<this, FeedState>(this);
  private _isDisposed = false;
  private _state: FeedState = 'connecting';
  private _problem = '';
  private _socket: WebSocket | null = null;
  private _retry: ReturnType<typeof setTimeout> | undefined;
  private _standby: ReturnType<typeof setTimeout> | undefined;
}

function failureOf(error: unknown, trans: ITranslate): [FeedState, string] {
  if (error instanceof RequestError && error.status === 404) {
    return ['missing', error.message];
  }
  return ['lost', errorWords(error, trans)];
}
