/** Sockets over an exchange of messages that several share: a kernel's own. */

import { UUID } from '@lumino/coreutils';

import type { Fields } from './control';
import type { IReceiver, IWay } from './socket';

/** What came for one socket or request, or a part of it. */
export interface IPart {
  readonly id: string;
  readonly kind: 'text' | 'binary' | 'answer' | 'closed';
  readonly size: number;
  /** More of the same message follows. */
  readonly more?: boolean;
  /** Of an answer: HTTP's. */
  readonly status?: number;
  /** Why it is closed. */
  readonly reason?: string;
}

/** Takes what comes for one socket or request; true when that was all. */
export type Taker = (part: IPart, bytes: Uint8Array<ArrayBuffer>) => boolean;

export class Tunnel {
  /** @param _send - sends what a socket or a request asks. */
  constructor(private readonly _send: (field: Fields) => void) {}

  /** What is open. */
  get ids(): readonly string[] {
    return [...this._takers.keys()];
  }

  /** Ask for something; returns the id of what comes. */
  ask(what: string, given: Fields, take: Taker): string {
    const id = UUID.uuid4();
    this._takers.set(id, take);
    this._send({ do: what, id, ...given });
    return id;
  }

  /** Take nothing more of one; false where nothing was to come. */
  drop(id: string): boolean {
    this._halves.delete(id);
    return this._takers.delete(id);
  }

  /** A way to the websocket that `place` names to the other side. */
  way(note: string, place: Fields): IWay {
    return { note, open: (protocols, receiver) => this._open({ ...place, protocols }, receiver) };
  }

  /** Pass on what a message holds: the bytes of each part follow those of the one before. */
  take(parts: readonly IPart[], payload: Uint8Array<ArrayBuffer>): void {
    let at = 0;
    for (const part of parts) {
      const bytes = payload.slice(at, (at += part.size));
      const half = this._halves.get(part.id);
      const whole = half === undefined ? bytes : joined(half, bytes);
      this._halves.delete(part.id);
      if (part.more === true) {
        this._halves.set(part.id, whole);
      } else {
        this._pass(this._takers.get(part.id), part, whole);
      }
    }
  }

  /** Nothing more comes for what is open. */
  end(reason: string): void {
    const takers = [...this._takers.values()];
    this._takers.clear();
    this._halves.clear();
    const part: IPart = { id: '', kind: 'closed', size: 0, reason };
    takers.forEach(take => this._pass(take, part, new Uint8Array()));
  }

  /** Whatever a taker throws, BokehJS's handlers too, is no concern of the others. */
  private _pass(take: Taker | undefined, part: IPart, bytes: Uint8Array<ArrayBuffer>): void {
    try {
      if (take?.(part, bytes) === true) {
        this._takers.delete(part.id);
      }
    } catch (error) {
      reportError(error);
    }
  }

  private _open(given: Fields, receiver: IReceiver): ReturnType<IWay['open']> {
    const id = this.ask('open', given, (part, bytes) => {
      if (part.kind === 'closed') {
        receiver.onClose(part.reason ?? '');
        return true;
      }
      const isBinary = part.kind === 'binary';
      receiver.onMessage(isBinary ? bytes.buffer : new TextDecoder().decode(bytes));
      return false;
    });
    return {
      send: text => this._takers.has(id) && this._send({ do: 'send', id, data: text }),
      close: () => this.drop(id) && this._send({ do: 'close', ids: [id] })
    };
  }

  private readonly _takers = new Map<string, Taker>();
  /** What has come of messages that are not whole. */
  private readonly _halves = new Map<string, Uint8Array<ArrayBuffer>>();
}

function joined(
  one: Uint8Array<ArrayBuffer>,
  other: Uint8Array<ArrayBuffer>
): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
