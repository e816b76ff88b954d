/**
 * The stream of a dashboard: all plots of it in this page, over one connection.
 *
 * What travels there, and why so: docs/decisions/0005-one-stream.md.
 */

import { PromiseDelegate } from '@lumino/coreutils';

import { fieldsOf, listOf, type Fields, type ISelection } from '../protocol/control';
import { runsOf, type IRun } from '../protocol/dashboard';
import type { ITranslate } from '../text';

/** What a connection gives; after `onClose` nothing. */
export interface IReceiver {
  onFrame(frame: ArrayBuffer): void;
  onClose(reason: string): void;
}

/** An open connection; what is sent after its end is dropped, and after `close` nothing comes. */
export interface IConnection {
  send(text: string): void;
  close(): void;
}

/** Reaches a dashboard's stream: by a websocket, or through its kernel's messages. */
export type Transport = (receiver: IReceiver) => IConnection;

/** A websocket to an address. */
export function webSocketTransport(url: string): Transport {
  return ({ onFrame, onClose }) => {
    const socket = new WebSocket(url);
    const opened = new Promise(resolve => (socket.onopen = resolve));
    socket.binaryType = 'arraybuffer';
    socket.onmessage = ({ data }) => onFrame(data as ArrayBuffer); // as asked for
    socket.onclose = ({ reason }) => onClose(reason);
    return {
      send: text =>
        void opened.then(() => socket.readyState === WebSocket.OPEN && socket.send(text)),
      close: () => {
        socket.onmessage = socket.onclose = null;
        socket.close();
      }
    };
  };
}

/** A document or a patch, with Bokeh's buffers by their ids. */
export interface IMessage {
  readonly fields: Fields;
  readonly buffers: ReadonlyMap<string, ArrayBuffer>;
}

/** An opening that takes longer is given up; a busy kernel answers late (ms). */
const OPEN_TIMEOUT_MS = 60_000;

/** How long after its end a connection is opened again for who follows the runs; doubles up to (ms). */
const RETRY_MS = 5000;
const LONGEST_RETRY_MS = 60_000;

/** A connection that lasted so long is no failure (ms). */
const STEADY_MS = 10_000;

/** Connected while somebody follows; each plot reopens itself when the connection has ended. */
export class PlotStream {
  constructor(
    private readonly _transport: Transport,
    private readonly _trans: ITranslate
  ) {}

  /** What all plots show, else null where each shows what goes on. */
  selection: ISelection | null = null;

  /** Told of the last runs, and of the selection, whenever one of them changes. */
  onRuns: (runs: readonly IRun[]) => void = () => undefined;

  /** Open a plot; a request has `plot`, `look` and `arguments`. */
  open(request: Fields): StreamedPlot {
    const id = String((this._opened += 1));
    const send = (patch: object): void => this._send({ type: 'patch', id, patch });
    const plot = new StreamedPlot(this, send, () => this._drop(id));
    this._plots.set(id, plot);
    this._connect();
    this._send({ type: 'open', id, ...request });
    const late = this._trans.__('It does not answer.');
    const timer = setTimeout(() => plot.end(late), OPEN_TIMEOUT_MS);
    void plot.document.catch(() => undefined).finally(() => clearTimeout(timer));
    return plot;
  }

  /** Have all plots show a run or a stretch of time, those opened later as well, until it is null. */
  select(selection: ISelection | null): void {
    this.selection = selection;
    this._send({ type: 'period', ...selection });
    this.onRuns(this._runs);
  }

  /** Follow the runs: `closely` has them come at once, else within some seconds; or not at all. */
  followRuns(how: 'closely' | 'slowly' | null): void {
    if (how !== this._follows) {
      this._follows = how;
      clearTimeout(this._retry);
      if (how !== null && this._connection === undefined) {
        this._connect();
      } else {
        this._sendFollows();
      }
      this._closeUnused();
    }
  }

  private _connect(): void {
    if (this._connection === undefined) {
      this._openedAt = Date.now();
      this._connection = this._transport({
        onFrame: frame => this._take(frame),
        onClose: reason => this._end(reason || this._trans.__('The connection ended.'))
      });
      if (this.selection !== null) {
        this.select(this.selection); // of before it was cut
      }
      if (this._follows !== null) {
        this._sendFollows();
      }
    }
  }

  private _sendFollows(): void {
    const how = this._follows;
    this._send({ type: 'runs', wanted: how !== null, closely: how === 'closely' });
  }

  private _send(message: object): void {
    this._connection?.send(JSON.stringify(message, encoded));
  }

  private _take(frame: ArrayBuffer): void {
    try {
      for (const message of messagesIn(frame)) {
        const { id, type } = message.fields;
        if (type === 'runs') {
          this._runs = runsOf(message.fields);
          this.onRuns(this._runs);
        } else {
          this._plots.get(String(id))?.take(message);
        }
      }
    } catch (error) {
      reportError(error);
      this._connection?.close();
      this._end(this._trans.__('What the dashboard sent cannot be read.'));
    }
  }

  private _end(reason: string): void {
    if (Date.now() - this._openedAt >= STEADY_MS) {
      this._wait = RETRY_MS;
    }
    this._connection = undefined;
    [...this._plots.values()].forEach(plot => plot.end(reason));
    if (this._follows !== null) {
      this._retry = setTimeout(() => this._connect(), this._wait);
      this._wait = Math.min(2 * this._wait, LONGEST_RETRY_MS);
    }
  }

  private _drop(id: string): void {
    if (this._plots.delete(id)) {
      this._send({ type: 'close', id });
      if (this._plots.size === 0 && this._connection !== undefined) {
        if (this._follows !== null && this.selection !== null) {
          this.select(null);
        }
        this.selection = null;
      }
      this._closeUnused();
    }
  }

  private _closeUnused(): void {
    if (this._plots.size === 0 && this._follows === null) {
      this._connection?.close();
      this._connection = undefined;
    }
  }

  private readonly _plots = new Map<string, StreamedPlot>();
  private _connection: IConnection | undefined;
  private _follows: 'closely' | 'slowly' | null = null;
  private _runs: readonly IRun[] = [];
  private _retry: ReturnType<typeof setTimeout> | undefined;
  private _wait = RETRY_MS;
  private _openedAt = 0;
  private _opened = 0;
}

/** One plot of a stream. */
export class StreamedPlot {
  constructor(
    readonly stream: PlotStream,
    /** Sends a patch. */
    readonly send: (patch: object) => void,
    private readonly _drop: () => void
  ) {}

  isOpen = true;

  private readonly _document = new PromiseDelegate<IMessage>();

  /** Its document; rejects with the reason where there will be none. */
  readonly document = this._document.promise;

  /** Give each patch to one, those first that have come already, and say when there is an end. */
  follow(take: (patch: IMessage) => void, onEnd: () => void): void {
    this._patches.forEach(take);
    this._patches = [];
    this._follow = take;
    this._onEnd = onEnd;
  }

  close(): void {
    this._onEnd = () => undefined;
    this.end('');
  }

  /** Take what has come for it. Whatever BokehJS throws is no concern of the other plots. */
  take(message: IMessage): void {
    const { type, reason } = message.fields;
    if (type === 'patch') {
      try {
        this._follow(message);
      } catch (error) {
        reportError(error);
      }
    } else if (type === 'document') {
      this._document.resolve(message);
    } else {
      this.end(String(reason));
    }
  }

  /** Nothing comes any more. */
  end(reason: string): void {
    if (this.isOpen) {
      this.isOpen = false;
      this._drop();
      this._document.reject(new Error(reason));
      this._onEnd();
    }
  }

  private _patches: IMessage[] = [];
  private _follow = (patch: IMessage): void => void this._patches.push(patch);
  private _onEnd = (): void => undefined;
}

/** Return the messages of a frame; `dask_diag_lab/server/stream.py` writes them. */
function messagesIn(frame: ArrayBuffer): readonly IMessage[] {
  let at = 4 + new DataView(frame).getUint32(0, true);
  const messages: unknown = JSON.parse(new TextDecoder().decode(frame.slice(4, at)));
  return listOf(messages, 'frame').map(one => {
    const fields = fieldsOf(one, 'message');
    const sizes = listOf(fields['buffers'] ?? [], 'buffers') as readonly [string, number][];
    return { fields, buffers: new Map(sizes.map(([id, n]) => [id, frame.slice(at, (at += n))])) };
  });
}

/** Return the bytes of base64, unpacked where they are packed. */
export async function bytesIn(base64: string, isPacked: boolean): Promise<ArrayBuffer> {
  const bytes = new Blob([Uint8Array.from(atob(base64), char => char.charCodeAt(0))]);
  const unpacked = (): Response =>
    new Response(bytes.stream().pipeThrough(new DecompressionStream('gzip')));
  return (isPacked ? unpacked() : bytes).arrayBuffer();
}

/** Write the buffers of arrays, which Bokeh's serializer leaves in a patch, as Bokeh reads them. */
function encoded(_key: string, value: unknown): unknown {
  const { to_base64: encode } = Object(value) as { to_base64?: () => string }; // any has fields
  return encode === undefined ? value : encode.call(value);
}
