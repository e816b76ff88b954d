/**
 * The feed against a real server and real sockets.
 *
 * @jest-environment node
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

import { ServerConnection } from '@jupyterlab/services';
import { WebSocket, WebSocketServer } from 'ws';

import { DashboardsFeed } from '../api/feed';
import type { IDashboard } from '../api/protocol';
import { Server } from '../api/server';
import { fixture, trans } from './dashboards';
import { until } from './plots';

class Backend {
  readonly sockets = new WebSocketServer({ noServer: true });
  status = 200;
  /** What happens to those who want a socket: a proxy may keep them waiting for ever. */
  upgrade: 'take' | 'refuse' | 'hold' = 'take';
  nSockets = 0;

  async start(): Promise<Server> {
    this._http.on('upgrade', (request, socket, head) => {
      this.nSockets += 1;
      this._held.push(socket);
      if (this.upgrade === 'refuse') {
        socket.destroy();
      } else if (this.upgrade === 'take') {
        this.sockets.handleUpgrade(request, socket, head, opened =>
          opened.send(JSON.stringify(fixture('dashboards/live.json')))
        );
      }
    });
    await new Promise<void>(resolve => this._http.listen(0, '127.0.0.1', resolve));
    const { port } = this._http.address() as AddressInfo; // it listens on TCP
    const settings = ServerConnection.makeSettings({
      baseUrl: `http://127.0.0.1:${port}/user/me/`,
      wsUrl: `ws://127.0.0.1:${port}/user/me/`,
      fetch: globalThis.fetch,
      Request: globalThis.Request,
      Headers: globalThis.Headers,
      WebSocket: WebSocket as unknown as typeof globalThis.WebSocket, // the same interface
      appendToken: false
    });
    return new Server(settings, trans);
  }

  async stop(): Promise<void> {
    this.sockets.clients.forEach(socket => socket.terminate());
    this._held.forEach(socket => socket.destroy());
    this._http.closeAllConnections();
    await new Promise(resolve => this._http.close(resolve));
  }

  private readonly _held: Duplex[] = [];
  private readonly _http = createServer((_, response) => {
    response.writeHead(this.status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(this.status === 200 ? fixture('dashboards/live.json') : {}));
  });
}

describe('the list of dashboards', () => {
  let backend: Backend;
  let feed: DashboardsFeed;
  let lists: (readonly IDashboard[])[];

  beforeEach(async () => {
    backend = new Backend();
    lists = [];
    feed = new DashboardsFeed(await backend.start(), 300);
    feed.received.connect((_, list) => void lists.push(list));
  });

  afterEach(async () => {
    feed.dispose();
    await backend.stop();
  });

  it('comes by socket, whole at first and then what changed', async () => {
    feed.start();
    await until(() => feed.state === 'live');
    const [socket] = backend.sockets.clients;
    const id = lists[0]![0]!.id;
    socket?.send(JSON.stringify({ changed: [], removed: [id] }));
    await until(() => lists.length === 2);
    expect(lists[1]).toEqual([]);
  });

  it('comes by GET where no socket opens, and by socket once one does', async () => {
    backend.upgrade = 'refuse';
    feed.start();
    await until(() => feed.state === 'polled');
    expect(lists[0]).toHaveLength(1);
    backend.upgrade = 'take';
    await until(() => feed.state === 'live');
  });

  it('comes again after the socket was cut', async () => {
    feed.start();
    await until(() => feed.state === 'live');
    backend.sockets.clients.forEach(socket => socket.terminate());
    await until(() => lists.length === 2 && feed.state === 'live');
  });

  it('comes by GET where a proxy holds the upgrade open', async () => {
    backend.upgrade = 'hold';
    feed.start();
    await until(() => feed.state === 'polled');
    expect(backend.nSockets).toBeGreaterThan(0);
  });

  it.each([
    [404, 'missing'],
    [500, 'lost']
  ])('is not there where the server answers %d', async (status, state) => {
    backend.upgrade = 'refuse';
    backend.status = status;
    feed.start();
    await until(() => feed.state === state);
    expect(feed.problem).not.toBe('');
  });
});
