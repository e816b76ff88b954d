// A reverse proxy before a Jupyter server that lets Lab's own websockets pass, and not ours.
import * as http from 'node:http';
import { AddressInfo, connect, Socket } from 'node:net';

export class ReverseProxy {
  private constructor(
    private readonly _server: http.Server,
    private readonly _sockets: Set<Socket>
  ) {}

  /** Whether upgrades of ours pass; else they are refused, or never answered. */
  passes = false;

  /** Start one before a port. */
  static async start(port: number, upgrades: 'refuse' | 'hold'): Promise<ReverseProxy> {
    const sockets = new Set<Socket>();
    const server = http.createServer();
    const proxy = new ReverseProxy(server, sockets);
    server.on('request', (asked, answer) => {
      const { method, url: path, headers } = asked;
      const passed = http.request({ host: '127.0.0.1', port, method, path, headers }, reply => {
        answer.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(answer);
      });
      passed.on('error', () => answer.destroy());
      answer.on('close', () => passed.destroy());
      asked.pipe(passed);
    });
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket));
    });
    server.on('upgrade', (asked: http.IncomingMessage, socket: Socket) => {
      if (asked.url?.includes('/dask-diag-lab/') && !proxy.passes) {
        if (upgrades === 'refuse') {
          socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
        }
        return;
      }
      const lines = [`${asked.method} ${asked.url} HTTP/1.1`];
      for (let i = 0; i < asked.rawHeaders.length; i += 2) {
        lines.push(`${asked.rawHeaders[i]}: ${asked.rawHeaders[i + 1]}`);
      }
      const passed = connect(port, '127.0.0.1', () =>
        passed.write(`${lines.join('\r\n')}\r\n\r\n`)
      );
      passed.on('error', () => socket.destroy()).on('close', () => socket.destroy());
      socket.on('close', () => passed.destroy());
      socket.pipe(passed).pipe(socket);
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this._server.address() as AddressInfo).port; // it listens on TCP
  }

  stop(): void {
    this._sockets.forEach(socket => socket.destroy());
    this._server.close();
  }
}
