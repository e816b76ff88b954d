/**
 * The list of dashboards from a real server over real sockets.
 *
 * @jest-environment node
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';

import { ServerConnection } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';
import { WebSocket, WebSocketServer } from 'ws';

import type { IChannelDashboard } from '../transport/channel';
import { DashboardsModel } from '../dashboards/dashboards';
import { dashboardsOf } from '../protocol/dashboard';
import { Server } from '../transport/server';
import { fixture, trans } from './dashboards';
import { until } from './plots';

const LIVE = fixture('dashboards/live.json') as { dashboards: { id: string; kernel_id: string }[] };
const own = LIVE.dashboards[0]!;

class Backend {
  readonly sockets = new WebSocketServer({ noServer: true });
  status = 200;
  hasSockets = true;

  async start(): Promise<Server> {
    this._http.on('upgrade', (request, socket, head) => {
      this._held.push(socket);
      if (this.hasSockets) {
        this.sockets.handleUpgrade(request, socket, head, opened =>
          opened.send(JSON.stringify(LIVE))
        );
      } else {
        socket.destroy();
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

  /** Send what changed to everybody who listens. */
  send(change: object): void {
    this.sockets.clients.forEach(socket => socket.send(JSON.stringify(change)));
  }

  async stop(): Promise<void> {
    this._held.forEach(socket => socket.destroy());
    this._http.closeAllConnections();
    await new Promise(resolve => this._http.close(resolve));
  }

  private readonly _held: Duplex[] = [];
  private readonly _http = createServer((_, response) => {
    response.writeHead(this.status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(this.status === 200 ? LIVE : {}));
  });
}

describe('the list of dashboards', () => {
  let backend: Backend;
  let server: Server;
  let model: DashboardsModel;
  const channels = {
    all: [] as IChannelDashboard[],
    ask: jest.fn(),
    changed: new Signal<object, void>({})
  };
  const sessions = {
    running: () => [{ kernel: { id: own.kernel_id }, path: 'work/a.ipynb' }].values(),
    runningChanged: new Signal<object, void>({})
  } as unknown as ConstructorParameters<typeof DashboardsModel>[1]; // all that is used of them

  beforeEach(async () => {
    backend = new Backend();
    server = await backend.start();
  });
  afterEach(async () => {
    model.dispose();
    await backend.stop();
  });

  function listen(): void {
    model = new DashboardsModel(server, sessions, channels, 300);
  }

  it('has what only a kernel tells, until the server lists it', async () => {
    const channel = server.relayed('far');
    const told = { ...dashboardsOf(LIVE)[0]!, channel };
    channels.all = [{ ...told, id: 'far' }, told];
    listen();
    await until(() => model.isKnown);
    channels.changed.emit(undefined);
    expect(model.all.map(({ id, channel: way }) => [id, way])).toEqual([
      [own.id, undefined],
      ['far', channel]
    ]);
    channels.all = [];
  });

  it('comes by socket, whole at first and then what changed', async () => {
    listen();
    expect(model.isKnown).toBe(false);
    await until(() => model.isKnown);
    expect(model.get(own.id)?.shownName).toBe('a.ipynb');
    expect(model.tag(own.id)).toBeNull();
    backend.send({ changed: [{ ...own, id: 'other', kernel_id: null, name: 'x' }], removed: [] });
    await until(() => model.all.length === 2);
    expect(model.all.map(one => one.shownName)).toEqual(['a.ipynb', 'x']);
    const [pane, another] = [{}, {}];
    model.setShown(pane, own.id);
    expect(model.tag(own.id)).toBeNull();
    model.setShown(another, 'other');
    expect(model.tag(own.id)).toMatchObject({ letter: 'A', title: 'a.ipynb' });
    model.setShown(another, null);
    expect(model.tag(own.id)).toBeNull();
    backend.send({ changed: [{ ...own, name: 'train' }], removed: [] });
    await until(() => model.get(own.id)?.shownName === 'train · a.ipynb');
    backend.send({ changed: [], removed: [own.id, 'other'] });
    await until(() => model.all.length === 0);
  });

  it('gives the open ones colours of their own, also where more are listed than there are', async () => {
    const others = 'bcdefgh'.split('').map(id => ({ ...own, id, kernel_id: null, name: id }));
    listen();
    await until(() => model.isKnown);
    backend.send({ changed: others, removed: [] });
    await until(() => model.all.length === 8);
    const [pane, another] = [{}, {}];
    model.setShown(pane, own.id);
    for (const { id } of others) {
      model.setShown(another, id);
      expect(model.tag(id)?.color).not.toBe(model.tag(own.id)?.color);
    }
  });

  it('is asked for where no socket opens, and comes by socket once one does', async () => {
    backend.hasSockets = false;
    listen();
    await until(() => model.all.length === 1);
    await until(() => model.isAsking);
    expect(channels.ask).toHaveBeenCalledWith([own.id]);
    channels.all = [{ ...dashboardsOf(LIVE)[0]!, channel: server.relayed('far') }];
    channels.changed.emit(undefined);
    expect(model.all.map(one => one.channel)).toEqual([channels.all[0]?.channel]);
    backend.hasSockets = true;
    await until(() => !model.isAsking);
    expect(model.connections).toBe(2);
    expect(model.all.map(one => one.channel)).toEqual([undefined]);
    channels.all = [];
  });

  it('comes again after the socket was cut', async () => {
    listen();
    await until(() => model.isKnown);
    backend.sockets.clients.forEach(socket => socket.terminate());
    await until(() => backend.sockets.clients.size === 0);
    await until(() => backend.sockets.clients.size === 1);
    expect(model.feedState).toBe('live');
    await until(() => model.connections === 2);
  });

  it.each([
    [404, 'missing'],
    [500, 'lost']
  ])('is not there where the server answers %d', async (status, state) => {
    backend.hasSockets = false;
    backend.status = status;
    listen();
    await until(() => model.feedState === state);
    expect(model.problem).not.toBe('');
  });
});
