/**
 * The feed against a real server and real sockets.
 *
 * @jest-environment node
 */

import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { ServerConnection } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { WebSocket, WebSocketServer } from 'ws';

import { DashboardsFeed, type FeedState } from '../api/feed';
import { Server } from '../api/server';
import type { IVisibility } from '../api/visibility';
import { fixture, trans } from './dashboards';

class Backend {
  readonly sockets = new WebSocketServer({ noServer: true });
  readonly paths: string[] = [];
  status = 200;
  takesSockets = true;

  constructor() {
    this._http = createServer((request, response) => {
      this.paths.push(`${request.method ?? ''} ${(request.url ?? '').split('?')[0]}`);
      response.writeHead(this.status, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(this.status === 200 ? fixture('dashboards/live.json') : {}));
    });
    this._http.on('upgrade', (request, socket, head) => {
      if (!this.takesSockets) {
        socket.destroy();
        return;
      }
      this.sockets.handleUpgrade(request, socket, head, opened => {
        opened.send(JSON.stringify(fixture('dashboards/live.json')));
      });
    });
  }

  async start(): Promise<Server> {
    await new Promise<void>(resolve => this._http.listen(0, '127.0.0.1', resolve));
    const { port } = this._http.address() as AddressInfo; // it listens on TCP
    return new Server(
      ServerConnection.makeSettings({
        baseUrl: `http://127.0.0.1:${port}/user/me/`,
        wsUrl: `ws://127.0.0.1:${port}/user/me/`,
        fetch: globalThis.fetch,
        Request: globalThis.Request,
        Headers: globalThis.Headers,
        WebSocket: WebSocket as unknown as typeof globalThis.WebSocket, // the same interface
        appendToken: false
      }),
      trans
    );
  }

  drop(): void {
    this.sockets.clients.forEach(client => client.terminate());
  }

  async stop(): Promise<void> {
    this.drop();
    this._http.closeAllConnections();
    await new Promise(resolve => this._http.close(resolve));
  }

  private readonly _http: HttpServer;
}

class Page implements IVisibility {
  readonly changed = new Signal<this, void>(this);
  isVisible = true;
}

describe('the feed of dashboards', () => {
  let backend: Backend;
  let feed: DashboardsFeed;
  let lists: number;

  async function make(): Promise<void> {
    feed = new DashboardsFeed(await backend.start(), new Page());
    lists = 0;
    feed.received.connect(() => (lists += 1));
  }

  function reaches(state: FeedState, atLeast = 0): Promise<void> {
    return new Promise(resolve => {
      const check = (): void => {
        if (feed.state === state && lists >= atLeast) {
          feed.stateChanged.disconnect(check);
          feed.received.disconnect(check);
          resolve();
        }
      };
      feed.stateChanged.connect(check);
      feed.received.connect(() => queueMicrotask(check));
      check();
    });
  }

  beforeEach(() => {
    backend = new Backend();
  });

  afterEach(async () => {
    feed.dispose();
    await backend.stop();
  });

  it('is live once the socket has sent a list', async () => {
    await make();
    feed.start();
    await reaches('live', 1);
    expect(feed.problem).toBe('');
    expect(backend.paths).toEqual([]);
  });

  it('comes back by itself after the socket was cut', async () => {
    await make();
    feed.start();
    await reaches('live', 1);
    backend.drop();
    await reaches('polled', 2);
    await reaches('live', 3);
    expect(backend.paths).toEqual(['GET /user/me/dask-diag-lab/api/dashboards']);
  });

  it('asks by GET where no socket opens', async () => {
    backend.takesSockets = false;
    await make();
    feed.start();
    await reaches('polled', 1);
  });

  it('says that the server extension is missing', async () => {
    backend.takesSockets = false;
    backend.status = 404;
    await make();
    feed.start();
    await reaches('missing');
    expect(feed.problem).not.toBe('');
  });

  it('says that what came was not understood', async () => {
    await make();
    backend.sockets.on('connection', () => undefined);
    feed.start();
    await reaches('live', 1);
    backend.sockets.clients.forEach(client => client.send('{"dashboards": 3}'));
    await reaches('lost');
    expect(feed.problem).toContain('dashboards');
  });
});

describe('addresses', () => {
  const server = new Server(
    ServerConnection.makeSettings({
      baseUrl: 'http://x/user/me/',
      wsUrl: 'ws://x/user/me/',
      token: 'secret',
      appendToken: false
    }),
    trans
  );

  it('lie below the base URL, with the id encoded', () => {
    expect(server.relayUrl('a/../b', 'plots/cpu')).toBe(
      'http://x/user/me/dask-diag-lab/dashboards/a%2F..%2Fb/plots/cpu'
    );
    expect(server.relaySocketUrl('id', 'plots/cpu/ws')).toBe(
      'ws://x/user/me/dask-diag-lab/dashboards/id/plots/cpu/ws'
    );
  });

  it('carry no token unless Lab itself does so', () => {
    expect(server.eventsUrl).not.toContain('secret');
  });
});
