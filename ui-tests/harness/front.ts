// What stands between a browser and Jupyter: a reverse proxy as nginx is set up.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as http from 'node:http';
import * as https from 'node:https';
import * as net from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';
import { pipeline } from 'node:stream';

export interface IFront {
  /** Scheme, host and port for the browser. */
  readonly origin: string;
  close(): void;
}

function join(near: net.Socket, far: net.Socket): void {
  pipeline(near, far, () => undefined);
  pipeline(far, near, () => undefined);
}

export interface IProxyOptions {
  /** Whether websockets of ours pass, are refused, or are never answered; the others do pass. */
  ours?: 'pass' | 'refuse' | 'hold';
  /** Whether it speaks TLS to the browser, with a certificate that it made itself. */
  tls: boolean;
  /** Whether Jupyter is told the proxy's name, or, as by default in nginx, its own address. */
  keepsHost: boolean;
}

/** A reverse proxy under a name of its own, which Chromium finds on this machine. */
export async function reverseProxy(target: URL, options: IProxyOptions): Promise<IFront> {
  const asked = (request: http.IncomingMessage): http.RequestOptions => {
    const { host = '' } = request.headers;
    return {
      host: target.hostname,
      port: target.port,
      method: request.method ?? 'GET',
      path: request.url ?? '/',
      headers: {
        ...request.headers,
        host: options.keepsHost ? host : target.host,
        'x-forwarded-proto': options.tls ? 'https' : 'http',
        'x-forwarded-host': host,
        'x-forwarded-for': request.socket.remoteAddress
      }
    };
  };
  const server = options.tls ? https.createServer(certificate()) : http.createServer();
  server.on('request', (request, answer) => {
    const upstream = http.request(asked(request), reply => {
      answer.writeHead(reply.statusCode ?? 502, reply.rawHeaders);
      pipeline(reply, answer, () => undefined);
    });
    upstream.on('error', () => answer.destroy());
    pipeline(request, upstream, () => undefined);
  });
  server.on('upgrade', (request, near: net.Socket, head: Buffer) => {
    near.on('error', () => near.destroy());
    if (request.url?.includes('/dask-diag-lab/') && (options.ours ?? 'pass') !== 'pass') {
      if (options.ours === 'refuse') {
        near.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
      }
      return;
    }
    const upstream = http.request(asked(request));
    upstream.on('error', () => near.destroy());
    const begin = (reply: http.IncomingMessage): void => {
      const lines = [`HTTP/1.1 ${reply.statusCode} ${reply.statusMessage}`];
      for (let i = 0; i < reply.rawHeaders.length; i += 2) {
        lines.push(`${reply.rawHeaders[i]}: ${reply.rawHeaders[i + 1]}`);
      }
      near.write(`${lines.join('\r\n')}\r\n\r\n`);
    };
    upstream.on('upgrade', (reply, far: net.Socket, first: Buffer) => {
      begin(reply);
      near.write(first);
      far.write(head);
      join(near, far);
    });
    // Refused: the browser is told so.
    upstream.on('response', reply => {
      begin(reply);
      pipeline(reply, near, () => undefined);
    });
    upstream.end();
  });
  return listening(server, options.tls ? 'https://lab.localhost' : 'http://lab.localhost');
}

async function listening(server: net.Server, place: string): Promise<IFront> {
  const sockets = new Set<net.Socket>();
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo; // listening on TCP: never a path or null
  return {
    origin: `${place}:${port}`,
    close: () => {
      server.close();
      sockets.forEach(socket => socket.destroy());
    }
  };
}

function certificate(): { key: Buffer; cert: Buffer } {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ddl-tls-'));
  const [key, cert] = ['key.pem', 'cert.pem'].map(name => path.join(folder, name)) as [
    string,
    string
  ];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', '/CN=lab.localhost', '-days', '2', '-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', ...kind, ...subject], { stdio: 'ignore' });
  const made = { key: fs.readFileSync(key), cert: fs.readFileSync(cert) };
  fs.rmSync(folder, { recursive: true });
  return made;
}
