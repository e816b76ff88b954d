// A real JupyterLab of a test's own: own folders, own port, token kept on, below a base URL.
import { ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import * as fs from 'node:fs';
import { createServer } from 'node:net';
import * as os from 'node:os';
import * as path from 'node:path';

import { writeNotebook } from './ipynb';

const ROOT = path.resolve(__dirname, '..', '..');
export const PYTHON = process.env.PYTHON || path.join(ROOT, '.venv', 'bin', 'python');
const START_LIMIT_MS = 90_000;

export interface IPlace {
  /** Below which path Lab lives, as in a URL. */
  readonly baseUrl: string;
  /** More lines of Jupyter's configuration. */
  readonly config: readonly string[];
}

/** As behind a hub: nothing may assume that Lab lives at the root. */
export const USUAL_PLACE: IPlace = { baseUrl: '/user/ada/', config: [] };

/** The same, with Dask's own dashboards of this machine in the list. */
export const FINDING_PLACE: IPlace = {
  ...USUAL_PLACE,
  config: ['c.DaskDiagLab.discover = True']
};

const SETTINGS: Record<string, object> = {
  // Lab would ask in a dialog whether it may fetch news, and lay word of a newer version over panes.
  '@jupyterlab/apputils-extension/notification': { fetchNews: 'false', checkForUpdates: false },
  // Cells outside the view stay in the page, so a test can reach any of them by its number.
  '@jupyterlab/notebook-extension/tracker': { windowingMode: 'none' }
};

export class JupyterServer {
  private constructor(
    readonly folder: string,
    readonly url: string,
    readonly token: string,
    private readonly _process: ChildProcess
  ) {}

  /** Start a server and wait until it answers. */
  static async start(place = USUAL_PLACE): Promise<JupyterServer> {
    // Short: socket paths in the runtime folder are limited to 107 bytes.
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ddl-ui-'));
    const port = await freePort();
    const token = randomBytes(24).toString('hex');
    const url = `http://127.0.0.1:${port}${place.baseUrl}`;
    const log = fs.openSync(path.join(folder, 'server.log'), 'w');
    const child = spawn(PYTHON, ['-m', 'jupyterlab', '--allow-root'], {
      cwd: prepare(folder, port, place),
      env: environment(folder, token),
      stdio: ['ignore', log, log],
      detached: true
    });
    fs.closeSync(log);
    const server = new JupyterServer(folder, url, token, child);
    try {
      await server._answers();
    } catch (reason) {
      await server.stop();
      throw reason;
    }
    return server;
  }

  /** Everything that the server and its kernels have printed. */
  get log(): string {
    return fs.readFileSync(path.join(this.folder, 'server.log'), 'utf8');
  }

  /** A path below the folder that Lab shows. */
  path(name: string): string {
    return path.join(this.folder, 'work', name);
  }

  /** Write a notebook with these code cells; returns its name. */
  writeNotebook(name: string, cells: string[]): string {
    writeNotebook(this.path(name), cells);
    return name;
  }

  /** Copy a file of the repository to where Lab shows it, with other words; returns its name. */
  copy(source: string, others: Readonly<Record<string, string>> = {}): string {
    const name = path.basename(source);
    let text = fs.readFileSync(path.join(ROOT, source), 'utf8');
    for (const [words, other] of Object.entries(others)) {
      if (!text.includes(words)) {
        throw new Error(`${source} has no “${words}”.`);
      }
      text = text.replaceAll(words, other);
    }
    fs.writeFileSync(this.path(name), text);
    return name;
  }

  /** Call the server's HTTP interface. */
  async api(route: string, method = 'GET'): Promise<Response> {
    return fetch(this.url + route, {
      method,
      headers: { Authorization: `token ${this.token}` },
      signal: AbortSignal.timeout(20_000)
    });
  }

  /** End every kernel, and with it every cluster. */
  async endKernels(): Promise<void> {
    const reply = await this.api('api/sessions');
    const sessions = (await reply.json()) as { id: string }[];
    for (const session of sessions) {
      await this.api(`api/sessions/${session.id}`, 'DELETE');
    }
    // Kernels without a notebook: none is expected, but one would disturb the next test.
    const kernels = (await (await this.api('api/kernels')).json()) as { id: string }[];
    for (const kernel of kernels) {
      await this.api(`api/kernels/${kernel.id}`, 'DELETE');
    }
  }

  /** Stop the server with all it started, and remove its folders. */
  async stop(): Promise<void> {
    if (this._process.exitCode === null && this._process.signalCode === null) {
      const ended = new Promise<void>(resolve => this._process.once('exit', () => resolve()));
      this._process.kill('SIGTERM');
      const timer = setTimeout(() => this._process.kill('SIGKILL'), 15_000);
      await ended;
      clearTimeout(timer);
    }
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  private async _answers(): Promise<void> {
    const until = Date.now() + START_LIMIT_MS;
    while (Date.now() < until && this._process.exitCode === null) {
      try {
        if ((await this.api('api/status')).ok) {
          return;
        }
      } catch {
        // Not listening yet: the loop tries again until the limit.
      }
      await new Promise(resolve => setTimeout(resolve, 200));
    }
    throw new Error(`JupyterLab did not start:\n${this.log}`);
  }
}

/** Make the server's folders and settings; returns the one that Lab shows. */
function prepare(folder: string, port: number, place: IPlace): string {
  for (const name of ['work', 'config', 'data', 'runtime', 'settings', 'workspaces']) {
    fs.mkdirSync(path.join(folder, name), { mode: 0o700 });
  }
  const config = [
    "c.ServerApp.ip = '127.0.0.1'",
    `c.ServerApp.port = ${port}`,
    'c.ServerApp.port_retries = 0',
    'c.ServerApp.open_browser = False',
    `c.ServerApp.base_url = '${place.baseUrl}'`,
    // Dashboards on this machine may be other people's.
    'c.DaskDiagLab.discover = False',
    'c.LabApp.expose_app_in_browser = True',
    'c.JupyterNotebookApp.expose_app_in_browser = True',
    ...place.config
  ];
  fs.writeFileSync(path.join(folder, 'config', 'jupyter_server_config.py'), config.join('\n'));
  for (const [name, value] of Object.entries(SETTINGS)) {
    const file = path.join(folder, 'settings', `${name}.jupyterlab-settings`);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, JSON.stringify(value));
  }
  return path.join(folder, 'work');
}

function environment(folder: string, token: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PATH: `${path.dirname(PYTHON)}${path.delimiter}${process.env.PATH}`,
    JUPYTER_TOKEN: token,
    JUPYTER_CONFIG_DIR: path.join(folder, 'config'),
    JUPYTER_DATA_DIR: path.join(folder, 'data'),
    JUPYTER_RUNTIME_DIR: path.join(folder, 'runtime'),
    JUPYTERLAB_SETTINGS_DIR: path.join(folder, 'settings'),
    JUPYTERLAB_WORKSPACES_DIR: path.join(folder, 'workspaces')
  };
}

/** A port outside of those that the system gives to others, who would have it before its server. */
export function freePort(): Promise<number> {
  const port = randomInt(20_000, 32_000);
  return new Promise(resolve => {
    const probe = createServer();
    probe.once('error', () => resolve(freePort()));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(port)));
  });
}
