/**
 * The socket of a plot, over a websocket or through the messages of its kernel.
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

/** How messages are exchanged with a plot's server. */
export interface IWay {
  /** What the reader is told of plots that came this way; '' for nothing. */
  readonly note: string;
  open(protocols: readonly string[], receiver: IReceiver): IOpenWay;
}

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
class PlotSocket {
  constructor(way: IWay, protocols: readonly string[]) {
    this._open = way.open(protocols, {
      onMessage: data => {
        if (this.readyState === WebSocket.CONNECTING) {
          this.readyState = WebSocket.OPEN;
          this.onopen();
        }
        this.onmessage({ data });
      },
      onClose: reason => this._end(reason)
    });
  }

  binaryType = 'arraybuffer';
  readyState: number = WebSocket.CONNECTING;
  onopen: () => void = () => undefined;
  onmessage: (event: { data: string | ArrayBuffer }) => void = () => undefined;
  onclose: (event: { code: number; reason: string }) => void = () => undefined;
  onerror: () => void = () => undefined;

  send(text: string): void {
    this._open.send(text);
  }

  close(): void {
    this._end('');
  }

  private _end(reason: string): void {
    if (this.readyState !== WebSocket.CLOSED) {
      this.readyState = WebSocket.CLOSED;
      this._open.close();
      this.onclose({ code: 1000, reason });
    }
  }

  private readonly _open: IOpenWay;
}

/** Connect over a way. */
export function connectOver(connection: IBokehConnection, way: IWay): Promise<IBokehSession> {
  // BokehJS makes its socket itself, with the class that the page has at this moment, before
  // `connect` returns; it takes none that is given.
  const { WebSocket: own } = window;
  const make = function (_url: string, protocols: readonly string[]): PlotSocket {
    window.WebSocket = own; // which a way may need
    return new PlotSocket(way, protocols);
  };
  window.WebSocket = Object.assign(make, own) as unknown as typeof WebSocket; // made with `new`
  try {
    return connection.connect();
  } finally {
    window.WebSocket = own;
  }
}
