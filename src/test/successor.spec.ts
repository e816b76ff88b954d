/** Which cluster takes over a browser tab whose own has ended. */

import { dashboard } from './dashboards';
import { Channels } from './pagechannels';
import { settled } from './plots';
import { served } from './served';
import type { IDashboard } from '../wire';

interface ISuccessor {
  readonly own: IDashboard | null;
  attend(isThere: boolean, isSeen: boolean): void;
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
      told: { own(): void; next(heir: IHeir | null, isTaken: boolean): void }
    ): ISuccessor | null;
  };
}

/** A websocket that a test opens, speaks for and closes. */
class PageSocket extends EventTarget {
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

interface IRivals {
  readonly me: { readonly order: readonly string[] };
}
interface IRivalsModule {
  Rivals: new (own: string, channel: EventTarget) => IRivals;
}

const { Successor } = served<IModule>('successor.js');
const { Rivals } = served<IRivalsModule>('rivals.js');
const BASE = new URL('http://localhost/dask-diag-lab/dashboards/a/');
const MINUTE_MS = 60_000;

const one = (id: string, values: Partial<IDashboard> = {}): IDashboard =>
  dashboard({ id, scheduler: { id: `of ${id}`, address: '' }, ...values });
const ended = one('a', { state: 'stale' });

describe('the successor of a tab’s cluster', () => {
  let listed: readonly IDashboard[] | null;
  let asked: number;
  let places: (string | null)[];
  let successor: ISuccessor;
  let channels: Channels;
  let rivals: IRivals;

  const pass = async (ms: number): Promise<void> => {
    await jest.advanceTimersByTimeAsync(ms);
    await settled();
  };
  const socket = (): PageSocket => PageSocket.made[PageSocket.made.length - 1]!;
  const hear = (...all: IDashboard[]): void => socket().say({ dashboards: all });
  const answer = (): Promise<unknown> => {
    asked += 1;
    return listed === null
      ? Promise.reject(new TypeError('Failed to fetch'))
      : Promise.resolve({ ok: true, json: () => Promise.resolve({ dashboards: listed }) });
  };

  beforeEach(() => {
    jest.useFakeTimers();
    jest.spyOn(console, 'debug').mockImplementation();
    PageSocket.made.length = 0;
    [listed, asked, places] = [[one('a')], 0, []];
    Object.assign(window, { WebSocket: PageSocket });
    jest.spyOn(globalThis, 'fetch').mockImplementation(answer as never); // as much as is used
    window.sessionStorage.clear();
    channels = new Channels();
    successor = Successor.of(
      BASE,
      ['task-stream'],
      id => (rivals = new Rivals(id, channels.open())),
      {
        own: () => undefined,
        next: (heir, isTaken) => {
          const id = heir && heir.place.pathname.replace(/^.*dashboards\/(.*)\/$/, '$1');
          expect(id).toBe(heir?.id ?? null);
          places.push(isTaken ? `${id} of another page` : id);
        }
      }
    )!;
  });

  afterEach(() => {
    successor.attend(true, false);
    expect(jest.getTimerCount()).toBe(0);
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  it('is nobody’s for a page that came without a relay', () => {
    const none = { own: () => undefined, next: () => undefined };
    const url = new URL('http://localhost:4711/');
    expect(Successor.of(url, [], () => ({}), none)).toBeNull();
  });

  it('is the newest cluster that began after it, to which the page has not gone yet', async () => {
    successor.attend(true, true);
    await pass(MINUTE_MS);
    successor.attend(false, true);
    hear(ended, one('b'), one('c'));
    await pass(MINUTE_MS);
    expect(places).toEqual(['c']);
    expect(window.sessionStorage).toHaveLength(0); // a picture may be frozen
  });

  it('is told from clusters of other kernels, which have no place in the order', async () => {
    listed = [one('else', { kernel_id: 'k2' }), one('a')];
    successor.attend(true, true);
    await pass(MINUTE_MS);
    expect(rivals.me.order).toEqual(['a']);
  });

  it('is none that has run beside it, since before or after the page was opened', async () => {
    listed = [one('a'), one('before')];
    successor.attend(true, true);
    await pass(MINUTE_MS);
    listed = [one('a'), one('before'), one('after')];
    await pass(2 * MINUTE_MS);
    successor.attend(false, true);
    hear(ended, one('before'), one('after'));
    await pass(MINUTE_MS);
    expect(places).not.toContain('after');
    hear(ended, one('before'), one('after'), one('next'));
    await pass(MINUTE_MS);
    expect(places.at(-1)).toBe('next');
  });

  it('may have begun a moment before it ended', async () => {
    successor.attend(true, true);
    await pass(MINUTE_MS);
    listed = [one('a'), one('b')];
    await pass(MINUTE_MS / 2);
    successor.attend(false, true);
    hear(ended, one('b'));
    await pass(MINUTE_MS);
    expect(places).toEqual(['b']);
  });

  it('is not looked for in a list that lacks it only for a moment', async () => {
    successor.attend(true, true);
    await pass(MINUTE_MS);
    successor.attend(false, true);
    hear(one('b'));
    await pass(1000);
    hear(one('a', { state: 'unreachable' }), one('b'));
    await pass(MINUTE_MS);
    expect(places).toEqual([null]);
    hear(one('b'));
    await pass(MINUTE_MS);
    expect(places).toEqual([null, 'b']);
  });

  it('is found also when the first lists did not come', async () => {
    listed = null;
    successor.attend(true, true);
    await pass(2 * MINUTE_MS);
    expect(successor.own).toBeNull();
    expect(asked).toBeLessThan(10);
    listed = [one('a')];
    await pass(MINUTE_MS);
    expect(successor.own?.id).toBe('a');
    successor.attend(false, true);
    hear(one('b'));
    await pass(MINUTE_MS);
    expect(places).toEqual(['b']);
  });

  it('is found when no list came before its end', async () => {
    listed = null;
    successor.attend(true, true);
    await pass(MINUTE_MS);
    successor.attend(false, true);
    hear(ended);
    hear(ended, one('b'));
    await pass(MINUTE_MS);
    expect(places).toEqual([null, 'b']);
  });

  it('is not asked for while nobody sees the page', async () => {
    successor.attend(true, true);
    await pass(MINUTE_MS);
    const before = asked;
    successor.attend(true, false);
    await pass(10 * MINUTE_MS);
    successor.attend(false, false);
    await pass(10 * MINUTE_MS);
    expect([asked, PageSocket.made.length]).toEqual([before, 0]);
    successor.attend(false, true);
    expect(PageSocket.made).toHaveLength(1);
    successor.attend(false, false);
    expect(socket().isClosed).toBe(true);
  });

  it('is listened for again, with growing pauses, when the socket ends', async () => {
    successor.attend(true, true);
    await pass(1000);
    successor.attend(false, true);
    for (let passed = 0; passed < 2 * MINUTE_MS; passed += 500) {
      if (!socket().isClosed) {
        socket().close();
      }
      await pass(500);
    }
    expect(PageSocket.made.length).toBeGreaterThan(3);
    expect(PageSocket.made.length).toBeLessThan(12);
  });

  it('is listened for again at once, however often the page was hidden', async () => {
    successor.attend(true, true);
    await pass(1000);
    for (let times = 0; times < 8; times += 1) {
      successor.attend(false, true);
      successor.attend(false, false);
    }
    successor.attend(false, true);
    const before = PageSocket.made.length;
    socket().close();
    await pass(1000);
    expect(PageSocket.made).toHaveLength(before + 1);
  });

  /** Lose the cluster while the page of an older one waits as well, and have one new listed. */
  async function waitBesideOlder(channel: ReturnType<typeof channels.open>): Promise<void> {
    const older = new Rivals('older', channel) as unknown as {
      know(kernel: unknown, ids: string[]): void;
    };
    older.know(one('a').kernel_id, ['older']);
    listed = [one('older'), one('a')];
    successor.attend(true, true);
    await pass(MINUTE_MS);
    successor.attend(false, true);
    hear(ended, one('b'));
    await pass(5000);
  }

  it('is left to the page of an older cluster that waits, until that has one', async () => {
    await waitBesideOlder(channels.open());
    expect(places).toEqual(['b of another page']);
    hear(ended, one('b'), one('c'));
    await pass(5000);
    expect(places.at(-1)).toBe('c');
  });

  it('is this page’s again when that of the older cluster is closed', async () => {
    const channel = channels.open();
    await waitBesideOlder(channel);
    channels.close(channel);
    await pass(MINUTE_MS);
    expect(places).toEqual(['b of another page', 'b']);
  });
});
