/**
 * The socket of a plot, over the first of several ways that works.
 *
 * See docs/decisions/0008-ways-around-a-closed-way.md.
 */

import type { IBokehConnection, IBokehSession } from './bokeh';

/** What a way gives to the socket over it; after `onClose` nothing. */
export interface IReceiver {
  onMessage(data: string | ArrayBuffer): void;
  onClose(reason: string): void;
}

/** An open way; what is sent after its end is dropped. */
export interface IOpenWay {
  send(text: string): void;
  close(): void;
}

/** How messages can be exchanged with a plot's server. */
export interface IWay {
  /** What the reader is told of plots that came this way; '' for nothing. */
  readonly note: string;
  open(protocols: readonly string[], receiver: IReceiver): IOpenWay;
  /** It was the one that worked. */
  onWon?(): void;
}

/** A way that has said nothing for so long is given company (ms). */
const PATIENCE_MS = 3000;

/** A websocket straight to an address. */
export function webSocketWay(url: string): IWay {
  return {
    note: '',
    open: (protocols, { onMessage, onClose }) => {
      const socket = new WebSocket(url, [...protocols]);
      socket.binaryType = 'arraybuffer';
      socket.onmessage = ({ data }) => onMessage(data as string | ArrayBuffer); // as asked for
      socket.onclose = ({ reason }) => onClose(reason);
      return {
        send: text => socket.readyState === WebSocket.OPEN && socket.send(text),
        close: () => socket.close()
      };
    }
  };
}

/** As much of a `WebSocket` as BokehJS uses. */
export class PlotSocket {
  constructor(
    private readonly _ways: readonly IWay[],
    private readonly _protocols: readonly string[]
  ) {
    this._openNext();
  }

  binaryType = 'arraybuffer';
  readyState: number = WebSocket.CONNECTING;
  onopen: () => void = () => undefined;
  onmessage: (event: { data: string | ArrayBuffer }) => void = () => undefined;
  onclose: (event: { code: number; reason: string }) => void = () => undefined;
  onerror: () => void = () => undefined;
  /** What the reader is told of the way. */
  note = '';

  send(text: string): void {
    this._won?.send(text);
  }

  close(): void {
    this._end(this._reason);
  }

  private _openNext(): void {
    clearTimeout(this._timer);
    const way = this._ways[this._opened];
    if (way === undefined || this.readyState !== WebSocket.CONNECTING) {
      return;
    }
    this._opened += 1;
    this._timer = setTimeout(() => this._openNext(), PATIENCE_MS);
    const open = way.open(this._protocols, {
      onMessage: data => {
        if (this.readyState === WebSocket.CONNECTING) {
          this._win(way, open);
        }
        if (this._won === open) {
          this.onmessage({ data });
        }
      },
      onClose: reason => {
        this._open.delete(open);
        if (this._won === open) {
          this._end(reason);
        } else if (this.readyState === WebSocket.CONNECTING) {
          this._reason = reason || this._reason;
          this._openNext();
          if (this._open.size === 0) {
            this._end(this._reason);
          }
        }
      }
    });
    this._open.add(open);
  }

  /** The first message says that a way works: a proxy may let an upgrade pass and nothing after it. */
  private _win(way: IWay, open: IOpenWay): void {
    clearTimeout(this._timer);
    this._won = open;
    this.note = way.note;
    this.readyState = WebSocket.OPEN;
    way.onWon?.();
    this._open.delete(open);
    this._open.forEach(other => other.close());
    this.onopen();
  }

  private _end(reason: string): void {
    if (this.readyState !== WebSocket.CLOSED) {
      clearTimeout(this._timer);
      this.readyState = WebSocket.CLOSED;
      this._won?.close();
      this._open.forEach(open => open.close());
      this.onclose({ code: 1000, reason });
    }
  }

  private _opened = 0;
  /** Why a way failed, where one said so: another may end without a word. */
  private _reason = '';
  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _won: IOpenWay | undefined;
  private readonly _open = new Set<IOpenWay>();
}

/** Connect over these ways; `onSocket` gets the socket that is made. */
export function connectOver(
  connection: IBokehConnection,
  ways: readonly IWay[],
  onSocket: (socket: PlotSocket) => void
): Promise<IBokehSession> {
  // BokehJS makes its socket itself, with the class that the page has at this moment, before
  // `connect` returns; it takes none that is given.
  const { WebSocket: own } = window;
  const make = function (_url: string, protocols: readonly string[]): PlotSocket {
    window.WebSocket = own; // which a way may need
    const socket = new PlotSocket(ways, protocols);
    onSocket(socket);
    return socket;
  };
  window.WebSocket = Object.assign(make, own) as unknown as typeof WebSocket; // made with `new`
  try {
    return connection.connect();
  } finally {
    window.WebSocket = own;
  }
}
