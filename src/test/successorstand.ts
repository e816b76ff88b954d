/** A page of cluster "a" that looks for its successor; a test speaks for server and sockets. */

import type { IDashboard } from '../wire';
import { dashboard } from './dashboards';
import { Channels } from './pagechannels';
import { settled } from './plots';
import { served } from './served';

interface ISuccessor {
  readonly own: IDashboard | null;
  attend(isThere: boolean, isSeen: boolean): void;
  look(): Promise<void>;
  peek(): Promise<void>;
}
interface ITold {
  own(): void;
  listed(own: IDashboard, all: readonly IDashboard[]): void;
  next(heir: IHeir | null, isTaken: boolean): void;
}
interface IHeir {
  readonly id: string;
  readonly place: URL;
}
interface IModule {
  Successor: {
    of(
      base: URL,
      plots: readonly string[],
      rivalsOf: (id: string) => object,
      told: ITold
    ): ISuccessor | null;
  };
}
interface IRivals {
  readonly me: { readonly order: readonly string[] };
}
interface IRivalsModule {
  Rivals: new (own: string, channel: EventTarget) => IRivals;
}

/** A websocket that a test opens, speaks for and closes. */
export class PageSocket extends EventTarget {
  static readonly made: PageSocket[] = [];
  isClosed = false;

  constructor(readonly url: string) {
    super();
    PageSocket.made.push(this);
  }

  say(value: unknown): void {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(value) }));
  }

  close(): void {
    this.isClosed = true;
    this.dispatchEvent(new Event('close'));
  }
}

export const { Successor } = served<IModule>('successor.js');
export const { Rivals } = served<IRivalsModule>('rivals.js');
const BASE = new URL('http://localhost/dask-diag-lab/dashboards/a/');
export const MINUTE_MS = 60_000;

export const one = (id: string, values: Partial<IDashboard> = {}): IDashboard =>
  dashboard({ id, scheduler: { id: `of ${id}`, address: '' }, ...values });

export class SuccessorStand {
  constructor() {
    jest.useFakeTimers();
    PageSocket.made.length = 0;
    Object.assign(window, { WebSocket: PageSocket });
    jest.spyOn(globalThis, 'fetch').mockImplementation((() => this._answer()) as never); // as much as is used
    window.sessionStorage.clear();
    const rivalsOf = (id: string): IRivals => (this.rivals = new Rivals(id, this.channels.open()));
    this.successor = Successor.of(BASE, ['task-stream'], rivalsOf, this.told)!; // behind a relay
  }

  readonly channels = new Channels();
  readonly successor: ISuccessor;
  rivals!: IRivals; // made with the successor

  /** What was said of a server that does not answer. */
  readonly debug = jest.spyOn(console, 'debug').mockImplementation();

  /** What the server lists; null where it does not answer. */
  listed: readonly IDashboard[] | null = [one('a')];

  /** How often it was asked. */
  asked = 0;

  /** With which dashboard the page was told to go on, time after time. */
  readonly places: (string | null)[] = [];

  /** The page's own dashboard and those listed, time after time. */
  readonly seen: (readonly string[])[] = [];

  readonly told: ITold = {
    own: () => undefined,
    listed: (own, all) => void this.seen.push([own.id, ...all.map(({ id }) => id)]),
    next: (heir, isTaken) => {
      const id = heir && heir.place.pathname.replace(/^.*dashboards\/(.*)\/$/, '$1');
      expect(id).toBe(heir?.id ?? null);
      this.places.push(isTaken ? `${id} of another page` : id);
    }
  };

  /** The socket that was opened last. */
  get socket(): PageSocket {
    return PageSocket.made[PageSocket.made.length - 1]!; // a test knows that there is one
  }

  hear(...all: IDashboard[]): void {
    this.socket.say({ dashboards: all });
  }

  async pass(ms: number): Promise<void> {
    await jest.advanceTimersByTimeAsync(ms);
    await settled();
  }

  /** Close the page, of which nothing goes on. */
  dispose(): void {
    this.successor.attend(true, false);
    expect(jest.getTimerCount()).toBe(0);
    jest.restoreAllMocks();
    jest.useRealTimers();
  }

  private _answer(): Promise<unknown> {
    this.asked += 1;
    return this.listed === null
      ? Promise.reject(new TypeError('Failed to fetch'))
      : Promise.resolve({ ok: true, json: () => Promise.resolve({ dashboards: this.listed }) });
  }
}
