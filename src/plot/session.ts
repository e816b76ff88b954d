/** One plot's live document: asked for, connected, drawn natively, closed without a trace. */

import type {
  BokehLoader,
  IBokeh,
  IBokehConnection,
  IBokehFigureView,
  IBokehModel,
  IBokehSession,
  IBokehView,
  ICanvasLayer
} from './bokeh';
import {
  CONTROL_NAME,
  Control,
  sessionReplyOf,
  type ILook,
  type IOpening,
  type PlotArguments
} from './control';
import { figuresIn, fitFigures, isDrawn } from './figures';
import { pictureOf } from './picture';
import { connectOver, type IWay } from './socket';
import type { ITranslate } from './text';

/** What a page asks of the view behind its picture; a view ignores what means nothing to it. */
export type Verb =
  'zoom-in' | 'zoom-out' | 'pan-left' | 'pan-right' | 'fit' | 'live' | 'freeze' | 'clear';

/** A dashboard's server, wherever it is; paths are relative to it. */
export interface IPlotServer {
  /** Resolves with JSON. */
  get(path: string): Promise<unknown>;
  /** POST JSON; resolves with the JSON of the answer. */
  post(path: string, body: object): Promise<unknown>;
  /** Where a file is, or once it has been fetched, a copy of it. */
  url(path: string): string | Promise<string>;
  /** The way to a websocket. */
  way(path: string): IWay;
}

/** An opening that takes longer is given up and tried again; a busy kernel answers late (ms). */
const OPEN_TIMEOUT_MS = 60_000;

/** Open the live document of a plot. */
export async function openSession(
  server: IPlotServer,
  loader: BokehLoader,
  trans: ITranslate,
  plot: string,
  look: ILook,
  given: PlotArguments
): Promise<PlotSession> {
  const path = `plots/${encodeURIComponent(plot)}`;
  const answer = await server.post(`${path}/session`, { look, arguments: given });
  const reply = sessionReplyOf(answer);
  const bokeh = await loader.load(reply.bokeh, reply.scripts, script => server.url(script));
  const { ClientConnection } = bokeh.require('client/connection');
  const connection = new ClientConnection('', reply.token, '');
  sendChoices(connection);
  // Not the connection, which cannot be closed before it has a session.
  const timer = setTimeout(() => connection.socket?.close(), OPEN_TIMEOUT_MS);
  const way = server.way(`${path}/ws`);
  const session = await connectOver(connection, way).finally(() => clearTimeout(timer));
  return new PlotSession(bokeh, session, trans, way.note);
}

/** What BokehJS writes into a figure at each layout. */
const SIZE = /^(inner|outer)_(width|height)$/;

/**
 * Let through what the reader does, not what a resize changes, which the kernel has no use for; and
 * nothing after either side's goodbye, which browsers report as an error.
 */
function sendChoices(connection: IBokehConnection): void {
  const send = connection.send.bind(connection);
  connection.send = message => {
    const { content } = message;
    const events = content.events?.filter(({ attr }) => attr === undefined || !SIZE.test(attr));
    if (events?.length !== 0 && connection.socket?.readyState === WebSocket.OPEN) {
      content.events = events;
      send(message);
    }
  };
}

/** A connected document; what it is told after its end is dropped. */
export class PlotSession {
  constructor(
    private readonly _bokeh: IBokeh,
    private readonly _session: IBokehSession,
    private readonly _trans: ITranslate,
    /** What the reader is told of the way that the picture comes; '' for nothing. */
    readonly wayNote = ''
  ) {
    const { document } = _session;
    this._control = document.get_model_by_name(CONTROL_NAME);
    if (this._control === null) {
      this.dispose();
      throw new Error(_trans.__('The dashboard is of another version of dask_diag_lab.'));
    }
    this._opening = this.control.open?.n;
    this._control.change.connect(this._onChange);
    document.on_event('connection_lost', () => this._onLost());
  }

  /** The server said something new. */
  onChanged: () => void = () => undefined;
  /** The connection ended, and not by `dispose`. */
  onClosed: () => void = () => undefined;
  /** A click in the picture asked for another plot. */
  onOpening: (opening: IOpening) => void = () => undefined;

  get control(): Control {
    return new Control(this._control ?? {});
  }

  /** False once the connection ended. */
  isOpen = true;

  async draw(element: HTMLElement): Promise<void> {
    const { add_document_standalone } = this._bokeh.require('embed');
    this._views = [...(await add_document_standalone(this._session.document, element))];
    this._figures = figuresIn(this._views);
    this._release = fitFigures(this._figures);
  }

  setVisible(isVisible: boolean): void {
    this._set({ visible: isVisible });
  }

  setLook(look: ILook): void {
    this._set({ look: JSON.stringify(look) });
  }

  /** Ask something of the view: a verb, `show` with arguments, or `set` with controls' values. */
  send(verb: Verb | 'show' | 'set', given?: Readonly<Record<string, string>>): void {
    this._commands += 1;
    const command = { verb, n: this._commands, ...(given ? { arguments: given } : {}) };
    this._set({ command: JSON.stringify(command) });
  }

  /** Whether there is a picture to save; a table is none. */
  get isPictured(): boolean {
    return isDrawn(this._views);
  }

  /** The picture with its headline and legend. */
  async picture(title: string, look: ILook, type: 'png' | 'svg'): Promise<Blob> {
    const picture = this._export(type, true);
    if (picture === undefined) {
      throw new Error(this._trans.__('There is no picture yet.'));
    }
    const layer = pictureOf(this._bokeh, picture, title, this.control.legend, look);
    return layer.to_blob().catch(() => {
      throw new Error(this._trans.__('The picture is too large.'));
    });
  }

  /** The same at once, as PNG in base64 of so many characters at most; '' of a table. */
  still(title: string, look: ILook, longest: number): string {
    const picture = this.isPictured ? this._export('png', false) : undefined;
    for (let zoom = 1; picture !== undefined; zoom *= 0.7) {
      const layer = pictureOf(this._bokeh, picture, title, this.control.legend, look, zoom);
      const [, base64 = ''] = layer.canvas.toDataURL().split(',');
      if (base64.length <= longest) {
        return base64;
      }
    }
    return '';
  }

  dispose(): void {
    this.isOpen = false;
    const { document } = this._session;
    this._release();
    this._control?.change.disconnect(this._onChange);
    this._session.close(); // before clear(), which would be sent to the server
    document.clear({ sync: false });
    const index = this._bokeh.documents.indexOf(document);
    if (index >= 0) {
      this._bokeh.documents.splice(index, 1); // Bokeh keeps every document it ever made
    }
  }

  private _export(type: 'png' | 'svg', hidpi: boolean): ICanvasLayer | undefined {
    const roots = this._session.document.roots();
    const view = this._views.find(one => one.export !== undefined && roots.includes(one.model));
    return view?.export?.(type, hidpi);
  }

  private _set(values: object): void {
    if (this.isOpen) {
      this._control?.setv(values);
    }
  }

  private _onLost(): void {
    if (this.isOpen) {
      this.isOpen = false;
      this._session.close(); // else Bokeh goes on sending what a resize changes in the last picture
      this.onClosed();
    }
  }

  private readonly _onChange = (): void => {
    const { open } = this.control;
    if (open !== null && open.n !== this._opening) {
      this._opening = open.n;
      this.onOpening(open);
    }
    this.onChanged();
  };

  private readonly _control: IBokehModel | null;
  private _views: readonly IBokehView[] = [];
  protected _figures: readonly IBokehFigureView[] = [];
  private _release: () => void = () => undefined;
  private _commands = 0;
  private _opening: number | undefined;
}

/** A document that was saved: nobody answers what is asked of it. */
export class SavedSession extends PlotSession {
  constructor(bokeh: IBokeh, json: object, trans: ITranslate) {
    const { Document } = bokeh.require('document');
    super(bokeh, { document: Document.from_json(json), close: () => undefined }, trans);
  }

  override send(verb: Verb | 'show' | 'set'): void {
    if (verb === 'fit') {
      this._figures.forEach(({ model }) => model.x_range.reset());
    }
  }
}
