/** One plot's live document: opened through the relay, drawn natively, closed without a trace. */

import type { IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';

import { CONTROL_NAME } from '../tokens';
import { controlOf, sessionReplyOf, type IControl, type ILook } from '../wire';
import type {
  BokehLoader,
  IBokeh,
  IBokehConnection,
  IBokehModel,
  IBokehSession,
  IBokehView
} from './bokeh';
import type { Server } from './server';

/** What a page asks of the view behind its picture; a view ignores what means nothing to it. */
export type Verb =
  'zoom-in' | 'zoom-out' | 'pan-left' | 'pan-right' | 'fit' | 'live' | 'freeze' | 'clear';

/** A plot that is connected; drawn once `draw` is done. */
export interface IPlotSession extends IDisposable {
  readonly control: IControl;
  /** False once the connection ended; `closed` may have fired before anybody listened. */
  readonly isOpen: boolean;
  /** The server said something new. */
  readonly changed: ISignal<IPlotSession, void>;
  /** The connection ended, and not by `dispose`. */
  readonly closed: ISignal<IPlotSession, void>;
  draw(element: HTMLElement): Promise<void>;
  setVisible(isVisible: boolean): void;
  setLook(look: ILook): void;
  send(verb: Verb): void;
  /** The picture as PNG on the given background. */
  picture(background: string): Promise<Blob>;
}

/** Opens plots; the one thing a picture needs from outside. */
export interface IPlotConnector {
  open(dashboard: string, plot: string, look: ILook): Promise<IPlotSession>;
}

/** Our reason for closing a socket whose messages make no sense (3000 to 4999 is for pages). */
const BAD_PROTOCOL = 4002;

/** Opens plots of the dashboards behind the relay. */
export class PlotConnector implements IPlotConnector {
  constructor(
    private readonly _server: Server,
    private readonly _loader: BokehLoader
  ) {}

  async open(dashboard: string, plot: string, look: ILook): Promise<IPlotSession> {
    const path = `plots/${encodeURIComponent(plot)}`;
    const reply = sessionReplyOf(
      await this._server.postRelayed(dashboard, `${path}/session`, { look })
    );
    const urls = reply.scripts.map(script => this._server.relayUrl(dashboard, script));
    const bokeh = await this._loader.load(reply.bokeh, urls);
    const { ClientConnection } = bokeh.require('client/connection');
    const url = this._server.relaySocketUrl(dashboard, `${path}/ws`);
    const connection = new ClientConnection(url, reply.token, this._server.socketQuery);
    // Bokeh closes with a code that browsers refuse, and would go on with half a message.
    connection._close_bad_protocol = () => connection.socket?.close(BAD_PROTOCOL);
    return new PlotSession(bokeh, connection, await connection.connect());
  }
}

class PlotSession implements IPlotSession {
  constructor(
    private readonly _bokeh: IBokeh,
    private readonly _connection: IBokehConnection,
    private readonly _session: IBokehSession
  ) {
    // Reconnecting is ours: Bokeh gives up after some attempts and shows its own notices.
    const quiet = { reconnect_session: false, notify_connection_status: false };
    _session.document.config?.setv(quiet, { sync: false });
    const control = _session.document.get_model_by_name(CONTROL_NAME);
    if (control === null) {
      this.dispose();
      throw new Error('The dashboard is of another version of dask_diag_lab.');
    }
    this._control = control;
    control.change.connect(this._onChange);
    _connection.socket?.addEventListener('close', this._onClose);
  }

  get control(): IControl {
    return controlOf(this._control ?? {});
  }

  get isOpen(): boolean {
    return !this._isDisposed && this._connection.socket !== null;
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
    this._views = await this._bokeh.require('embed').add_document_standalone(document, element);
  }

  setVisible(isVisible: boolean): void {
    this._set({ visible: isVisible });
  }

  setLook(look: ILook): void {
    this._set({ look: JSON.stringify(look) });
  }

  send(verb: Verb): void {
    this._commands += 1;
    this._set({ command: JSON.stringify({ verb, n: this._commands }) });
  }

  async picture(background: string): Promise<Blob> {
    const roots = this._session.document.roots();
    const views = [...(this._views ?? [])];
    const view = views.find(one => one.export !== undefined && roots.includes(one.model));
    if (view?.export === undefined) {
      throw new Error('There is no picture yet.');
    }
    return pngOf(view.export('png', true).canvas, background);
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    const { document } = this._session;
    this._connection.socket?.removeEventListener('close', this._onClose);
    this._control?.change.disconnect(this._onChange);
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

  private readonly _onChange = (): void => this._changed.emit();
  private readonly _onClose = (): void => {
    this._session.close(); // else Bokeh goes on sending what a resize changes in the last picture
    this._closed.emit();
  };
  private readonly _changed = new Signal<this, void>(this);
  private readonly _closed = new Signal<this, void>(this);
  private _control: IBokehModel | null = null;
  private _views: Iterable<IBokehView> | null = null;
  private _commands = 0;
  private _isDisposed = false;
}

function pngOf(picture: HTMLCanvasElement, background: string): Promise<Blob> {
  const canvas = document.createElement('canvas');
  canvas.width = picture.width;
  canvas.height = picture.height;
  const context = canvas.getContext('2d');
  if (context === null) {
    throw new Error('This browser has no canvas left for the picture.');
  }
  context.fillStyle = background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, 0);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      blob => (blob === null ? reject(new Error('The picture is too large.')) : resolve(blob)),
      'image/png'
    )
  );
}
