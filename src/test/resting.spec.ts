/** The feed of a hidden page, and behind a proxy that takes sockets only to close them. */

import { ServerConnection } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';

import { DashboardsFeed, STANDBY_AFTER_MS } from '../api/feed';
import { Server } from '../api/server';
import { fixture, trans } from './dashboards';
import { settled } from './plots';

class Socket {
  static readonly made: Socket[] = [];
  onopen: (() => void) | null = null;
  onclose: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;

  constructor() {
    Socket.made.push(this);
  }

  close(): void {
    this.onclose?.();
  }
}

describe('the feed of dashboards', () => {
  const page = { isVisible: true, changed: new Signal<object, void>({}) };
  let feed: DashboardsFeed;

  const last = (): Socket => Socket.made[Socket.made.length - 1]!;
  const show = (isVisible: boolean): void => {
    page.isVisible = isVisible;
    page.changed.emit();
  };
  const pass = async (ms: number): Promise<void> => {
    jest.advanceTimersByTime(ms);
    await settled();
  };
  const tell = (): void =>
    last().onmessage?.({ data: JSON.stringify(fixture('dashboards/live.json')) });

  beforeEach(() => {
    jest.useFakeTimers();
    Socket.made.length = 0;
    page.isVisible = true;
    const settings = ServerConnection.makeSettings({
      baseUrl: 'http://x/',
      wsUrl: 'ws://x/',
      fetch: () => Promise.reject(new TypeError('nothing answers')),
      WebSocket: Socket as never, // as much of a socket as the feed uses
      appendToken: false
    });
    feed = new DashboardsFeed(new Server(settings, trans), page as never);
  });

  afterEach(() => {
    feed.dispose();
    jest.useRealTimers();
  });

  it('rests in a page that was hidden from the start', async () => {
    page.isVisible = false;
    feed.start();
    tell();
    await pass(STANDBY_AFTER_MS);
    expect(feed.state).toBe('standby');
  });

  it('rests in a hidden page also while it tries to connect', async () => {
    feed.start();
    last().close();
    show(false);
    for (let passed = 0; passed < STANDBY_AFTER_MS; passed += 500) {
      await pass(500);
      last().close();
    }
    const { length } = Socket.made;
    await pass(10 * STANDBY_AFTER_MS);
    expect([feed.state, Socket.made.length]).toEqual(['standby', length]);
    show(true);
    tell();
    expect(feed.state).toBe('live');
  });

  it('waits longer and longer where sockets open and close without a list', async () => {
    feed.start();
    for (let passed = 0; passed < 60_000; passed += 250) {
      last().onopen?.();
      last().close();
      await pass(250);
    }
    expect(Socket.made.length).toBeLessThan(12);
  });

  it('tries soon after a connection that brought a list', async () => {
    feed.start();
    for (let turn = 0; turn < 5; turn += 1) {
      last().close();
      await pass(30_000);
    }
    tell();
    last().close();
    const { length } = Socket.made;
    await pass(500);
    expect(Socket.made).toHaveLength(length + 1);
  });

  it('leaves no timer behind', () => {
    feed.start();
    show(false);
    feed.dispose();
    expect(jest.getTimerCount()).toBe(0);
  });
});
