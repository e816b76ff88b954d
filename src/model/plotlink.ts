/** Keeps one plot connected: opens, draws, notices the end, tries again; knows no widgets. */

import type { IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';

import { Backoff } from '../api/backoff';
import type { IPlotConnector } from '../api/connector';
import type { IKeptPicture, IPlotSession, Verb } from '../api/session';
import { errorWords, type ITranslate } from '../api/words';
import { isSameArguments, type ILook, type IOpening, type PlotArguments } from '../wire';
import { inTime } from './intime';
import type { Link } from './panestate';

/** Where pictures are drawn; the one before stays until its successor is ready. */
export interface IStage {
  /** Return a new element to draw in. */
  prepare(): HTMLElement;
  /** The picture in `host` is ready: it alone is shown from now on. */
  show(host: HTMLElement): void;
  /** The picture is painted on this colour from now on. */
  ground(color: string): void;
  /** The picture in `host` will not come. */
  drop(host: HTMLElement): void;
}

const BACKOFF = { firstMs: 500, longestMs: 15_000 };

/** A connection that lasted this long was a good one; one that ends sooner is no success (ms). */
const STEADY_MS = 10_000;

export class PlotLink implements IDisposable {
  constructor(
    private readonly _connector: IPlotConnector,
    private readonly _plot: string,
    private readonly _stage: IStage,
    private _look: ILook,
    private _arguments: PlotArguments,
    private readonly _trans: ITranslate
  ) {}

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** A click in the picture asked for another plot. */
  get opened(): ISignal<this, IOpening> {
    return this._opened;
  }

  get state(): Link {
    if (this._session !== null && this._state.phase === 'open') {
      return this._openState(this._session);
    }
    return this._state;
  }

  /** True once a picture was drawn, also when its connection has ended since. */
  get hasPicture(): boolean {
    return this._session !== null;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Connect to the plot of this dashboard from now on; null leaves the last picture as it is. */
  target(dashboard: string | null): void {
    if (dashboard === this._target || this._isDisposed) {
      return;
    }
    this._target = dashboard;
    this._backoff.reset();
    this._open();
  }

  /** Try again now instead of at the next turn; for when something is known to have changed. */
  retryNow(): void {
    if (this._state.phase === 'failed' && this._isVisible) {
      this._backoff.reset();
      this._open();
    }
  }

  /** While nobody sees the picture, a connection that fails is not tried again. */
  setVisible(isVisible: boolean): void {
    if (isVisible === this._isVisible) {
      return;
    }
    this._isVisible = isVisible;
    this._session?.setVisible(isVisible);
    if (isVisible) {
      this.retryNow();
    } else {
      clearTimeout(this._retry);
    }
  }

  setLook(look: ILook): void {
    this._look = look;
    if (this._state.phase === 'open') {
      this._stage.ground(look.background);
    }
    this._session?.setLook(look);
  }

  /** Pass a command on; without a connection, only what was frozen can be let go. */
  send(verb: Verb): void {
    if (this._state.phase === 'open') {
      this._session?.send(verb);
    } else if (verb === 'freeze' || verb === 'live') {
      this._frozenOf = null;
    }
  }

  /** Show something else of the plot: at once where it is connected, else when it is. */
  show(given: PlotArguments): void {
    this._arguments = given;
    if (this._state.phase === 'open') {
      this._session?.show(given);
    }
  }

  /** What the picture is headed with, in its own words; '' for nothing. */
  get title(): string {
    return this._session?.title ?? '';
  }

  /** The last picture before an empty one, of a plot that ended; null for what is shown. */
  get kept(): IKeptPicture | null {
    const { control, kept = null } = this._session ?? {};
    const isOver =
      this._state.phase !== 'open' || control?.state === 'lost' || control?.state === 'closed';
    return isOver && control?.empty !== '' ? kept : null;
  }

  picture(look: ILook): Promise<Blob> {
    if (this._session === null) {
      return Promise.reject(new Error(this._trans.__('There is no picture yet.')));
    }
    return this._session.picture(look);
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    clearTimeout(this._retry);
    this._session?.dispose();
    this._session = null;
    Signal.clearData(this);
  }

  private _open(): void {
    clearTimeout(this._retry);
    this._attempt += 1;
    if (this._target === null) {
      this._setState({ phase: 'none' });
      return;
    }
    this._setState({ phase: 'opening', since: Date.now() });
    void this._try(this._target, this._attempt);
  }

  private async _try(target: string, attempt: number): Promise<void> {
    const isOver = (): boolean => this._isDisposed || this._attempt !== attempt;
    const host = this._stage.prepare();
    const look = this._look;
    const given = this._arguments;
    let session: IPlotSession | null = null;
    try {
      const opening = this._connector.open(target, this._plot, look, given);
      session = await inTime(opening, this._trans);
      if (!isOver()) {
        await session.draw(host);
      }
      if (isOver()) {
        session.dispose();
        this._stage.drop(host);
        return;
      }
      this._adopt(session, host, look);
      if (!isSameArguments(given, this._arguments)) {
        session.show(this._arguments);
      }
    } catch (error) {
      session?.dispose();
      this._stage.drop(host);
      if (!isOver()) {
        this._fail(errorWords(error, this._trans));
      }
    }
  }

  private _adopt(session: IPlotSession, host: HTMLElement, look: ILook): void {
    if (!session.isOpen) {
      throw new Error(this._trans.__('The connection ended while the plot was drawn.'));
    }
    const last = this._session;
    this._session = session;
    this._stage.ground(this._look.background);
    this._stage.show(host);
    last?.dispose();
    session.changed.connect(() => this._onChanged(session), this);
    session.closed.connect(() => this._onClosed(session), this);
    session.opened.connect((_, opening) => this._onOpened(session, opening), this);
    if (this._frozenOf === this._target) {
      session.send('freeze');
    } else {
      this._frozenOf = null;
    }
    if (!this._isVisible) {
      session.setVisible(false);
    }
    if (look !== this._look) {
      session.setLook(this._look);
    }
    clearTimeout(this._retry);
    this._drawnAt = Date.now();
    this._steadyAt = session.isConnected ? this._drawnAt + STEADY_MS : Infinity;
    this._setState(this._openState(session));
  }

  private _openState(session: IPlotSession): Link {
    const since = session.isConnected ? 0 : this._drawnAt;
    return { phase: 'open', control: session.control, since };
  }

  private _onChanged(session: IPlotSession): void {
    if (session === this._session && this._state.phase === 'open') {
      this._frozenOf = session.control.frozen ? this._target : null;
      if (session.isConnected) {
        // A proxy may let pictures through and no sockets: that is no good connection.
        this._steadyAt = Math.min(this._steadyAt, Date.now() + STEADY_MS);
      }
      this._changed.emit();
    }
  }

  private _onOpened(session: IPlotSession, opening: IOpening): void {
    if (session === this._session) {
      this._opened.emit(opening);
    }
  }

  /** The connection ended; that of a picture which is being replaced means nothing any more. */
  private _onClosed(session: IPlotSession): void {
    if (session !== this._session || this._state.phase !== 'open') {
      return;
    }
    if (Date.now() >= this._steadyAt) {
      this._backoff.reset();
    }
    this._fail(this._trans.__('The connection ended.'));
  }

  private _fail(reason: string): void {
    if (this._isDisposed) {
      return;
    }
    clearTimeout(this._retry);
    const wait = this._backoff.next();
    if (this._isVisible) {
      this._retry = setTimeout(() => this._open(), wait);
    }
    this._setState({ phase: 'failed', reason, retryAt: Date.now() + wait });
  }

  private _setState(state: Link): void {
    this._state = state;
    this._changed.emit();
  }

  private readonly _backoff = new Backoff(BACKOFF);
  private readonly _changed = new Signal<this, void>(this);
  private readonly _opened = new Signal<this, IOpening>(this);
  private _state: Link = { phase: 'none' };
  private _session: IPlotSession | null = null;
  private _target: string | null = null;
  /** The dashboard whose picture is frozen; its next picture is to be so again. */
  private _frozenOf: string | null = null;
  private _drawnAt = 0;
  /** When the connection will have lasted long enough. */
  private _steadyAt = Infinity;
  private _attempt = 0;
  private _retry: ReturnType<typeof setTimeout> | undefined;
  private _isVisible = true;
  private _isDisposed = false;
}
