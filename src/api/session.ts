/** One plot's live document: drawn natively, closed without a trace. */

import { DisposableSet, type IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';

import { CONTROL_NAME } from '../tokens';
import { controlOf, type IControl, type ILook, type IOpening, type PlotArguments } from '../wire';
import type { IBokeh, IBokehConnection, IBokehModel, IBokehSession, IBokehView } from './bokeh';
import type { IConnecting } from './connection';
import { pngOf } from './png';
import type { ITranslate } from './words';
import { adopt, screenOf, titleOf, type IBokehTitle } from './surface';

/** What a page asks of the view behind its picture; a view ignores what means nothing to it. */
export type Verb =
  'zoom-in' | 'zoom-out' | 'pan-left' | 'pan-right' | 'fit' | 'live' | 'freeze' | 'clear';

/** A picture that the plot itself does not show any more; `at` in ms since the epoch. */
export interface IKeptPicture {
  readonly canvas: HTMLCanvasElement;
  readonly title: string;
  readonly at: number;
}

/** A plot that is connected; drawn once `draw` is done. */
export interface IPlotSession extends IDisposable {
  readonly control: IControl;
  /** False once the connection ended; `closed` may have fired before anybody listened. */
  readonly isOpen: boolean;
  /** False until the server has greeted: there is a picture, and nothing follows it yet. */
  readonly isConnected: boolean;
  /** The server said something new. */
  readonly changed: ISignal<IPlotSession, void>;
  /** The connection ended, and not by `dispose`. */
  readonly closed: ISignal<IPlotSession, void>;
  draw(element: HTMLElement): Promise<void>;
  setVisible(isVisible: boolean): void;
  setLook(look: ILook): void;
  send(verb: Verb): void;
  /** Show something else of the same plot. */
  show(given: PlotArguments): void;
  /** A click in the picture asked for another plot. */
  readonly opened: ISignal<IPlotSession, IOpening>;
  /** The last picture before there was nothing to draw; null while there always was. */
  readonly kept: IKeptPicture | null;
  /** What the picture is headed with; '' for nothing. Drawn by whoever shows the picture. */
  readonly title: string;
  /** The picture with its title as PNG. */
  picture(look: ILook): Promise<Blob>;
}

/** A plot's document that `connect` has opened. */
export class PlotSession implements IPlotSession {
  constructor(
    private readonly _bokeh: IBokeh,
    { connection, session, connected }: IConnecting,
    private readonly _trans: ITranslate
  ) {
    this._connection = connection;
    this._session = session;
    // Reconnecting is ours: Bokeh gives up after some attempts and shows its own notices.
    const quiet = { reconnect_session: false, notify_connection_status: false };
    session.document.config?.setv(quiet, { sync: false });
    const control = session.document.get_model_by_name(CONTROL_NAME);
    if (control === null) {
      this.dispose();
      throw new Error(_trans.__('The dashboard is of another version of dask_diag_lab.'));
    }
    this._control = control;
    this._lastOpening = this.control.open?.n;
    control.change.connect(this._onChange);
    connection.socket?.addEventListener('close', this._onClose);
    connected.then(this._onConnected, () => undefined); // `close` tells of a failure
  }

  get control(): IControl {
    return controlOf(this._control ?? {});
  }

  get isOpen(): boolean {
    return !this._isDisposed && this._connection.socket !== null;
  }

  get isConnected(): boolean {
    return this._isConnected;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get closed(): ISignal<this, void> {
    return this._closed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  async draw(element: HTMLElement): Promise<void> {
    const { document } = this._session;
    // A title on the canvas is cut where the pane ends and read by nobody who cannot see it.
    this._title = titleOf(document.roots());
    this._title?.setv({ visible: false }, { sync: false });
    this._title?.change.connect(this._onTitle);
    this._views = await this._bokeh.require('embed').add_document_standalone(document, element);
    this._host = element;
    [...this._views].forEach(view => adopt(view, this._watches));
    this._isEmpty = this.control.empty !== '';
    this._lastTitle = this.title;
  }

  setVisible(isVisible: boolean): void {
    this._set({ visible: isVisible });
  }

  setLook(look: ILook): void {
    this._set({ look: JSON.stringify(look) });
  }

  send(verb: Verb): void {
    this._command({ verb });
  }

  show(given: PlotArguments): void {
    this._command({ verb: 'show', arguments: given });
  }

  get opened(): ISignal<this, IOpening> {
    return this._opened;
  }

  get kept(): IKeptPicture | null {
    return this._kept;
  }

  get title(): string {
    return this._title === null ? '' : String(this._title.text).trim();
  }

  async picture(look: ILook): Promise<Blob> {
    const canvas = this._canvas();
    if (canvas === null) {
      throw new Error(this._trans.__('There is no picture yet.'));
    }
    return pngOf(canvas, this.title, look, this._trans);
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    const { document } = this._session;
    this._watches.dispose();
    this._connection.socket?.removeEventListener('close', this._onClose);
    this._control?.change.disconnect(this._onChange);
    this._title?.change.disconnect(this._onTitle);
    this._session.close(); // before clear(), which would be sent to the server
    document.clear({ sync: false });
    const index = this._bokeh.documents.indexOf(document);
    if (index >= 0) {
      this._bokeh.documents.splice(index, 1); // Bokeh keeps every document it ever made
    }
    Signal.clearData(this);
  }

  private _set(values: object): void {
    if (this.isOpen) {
      this._control?.setv(values);
    }
  }

  /** The picture, painted anew; null before anything was drawn. */
  private _canvas(): HTMLCanvasElement | null {
    const roots = this._session.document.roots();
    const views = [...(this._views ?? [])];
    const view = views.find(one => one.export !== undefined && roots.includes(one.model));
    return view?.export?.('png', true).canvas ?? null;
  }

  /**
   * Keep the picture that an empty one is about to replace.
   *
   * A cluster that closes loses its workers first, so the last thing it shows is nothing. The
   * message that says so has just been read; the canvas is drawn anew only in the next frame.
   */
  private _keep(): void {
    const isEmpty = this.control.empty !== '';
    if (isEmpty && !this._isEmpty) {
      const canvas = this._host && screenOf(this._host);
      this._kept = canvas && { canvas, title: this._lastTitle, at: Date.now() };
    }
    this._isEmpty = isEmpty;
  }

  private _command(command: object): void {
    this._commands += 1;
    this._set({ command: JSON.stringify({ ...command, n: this._commands }) });
  }

  private readonly _onConnected = (): void => {
    this._isConnected = true;
    this._changed.emit();
  };
  private readonly _onChange = (): void => {
    const { open } = this.control;
    if (open !== null && open.n !== this._lastOpening) {
      this._lastOpening = open.n;
      this._opened.emit(open);
    }
    this._keep();
    this._changed.emit();
  };
  private readonly _onTitle = (): void => {
    this._lastTitle = this.title || this._lastTitle;
    this._changed.emit();
  };
  private readonly _onClose = (): void => {
    this._session.close(); // else Bokeh goes on sending what a resize changes in the last picture
    this._closed.emit();
  };
  private readonly _changed = new Signal<this, void>(this);
  private readonly _closed = new Signal<this, void>(this);
  private readonly _opened = new Signal<this, IOpening>(this);
  private readonly _connection: IBokehConnection;
  private readonly _session: IBokehSession;
  private _isConnected = false;
  private _control: IBokehModel | null = null;
  private _title: IBokehTitle | null = null;
  private _views: Iterable<IBokehView> | null = null;
  private readonly _watches = new DisposableSet();
  private _host: HTMLElement | null = null;
  private _kept: IKeptPicture | null = null;
  private _isEmpty = true;
  private _lastTitle = '';
  private _commands = 0;
  private _lastOpening: number | undefined;
  private _isDisposed = false;
}
