// A real `dask scheduler` with workers, started from a terminal and not in a kernel.
import { ChildProcess, spawn } from 'node:child_process';
import * as path from 'node:path';

import { freePort, PYTHON } from './server';

const START_LIMIT_MS = 60_000;

/** Tasks of a tenth of a second, until it is ended. */
const WORK = `
import sys, time
from distributed import Client
def crunch(i):
    time.sleep(0.1)
    return i
with Client(sys.argv[1], set_as_default=False) as client:
    while True:
        client.gather(client.map(crunch, range(40), pure=False))
`;

export class DaskScheduler {
  private constructor(
    private readonly _port: number,
    private readonly _dashboardPort: number
  ) {}

  /** Start a scheduler with two workers and wait until it shows both. */
  static async start(): Promise<DaskScheduler> {
    const scheduler = new DaskScheduler(await freePort(), await freePort());
    await scheduler.start();
    return scheduler;
  }

  /** Its dashboard, as the sidebar names it. */
  get name(): string {
    return `127.0.0.1:${this._dashboardPort}`;
  }

  get url(): string {
    return `http://${this.name}`;
  }

  get address(): string {
    return `tcp://127.0.0.1:${this._port}`;
  }

  /** Start it once more at the same place. */
  async start(): Promise<void> {
    const here = ['--host', '127.0.0.1'];
    const at = ['--port', String(this._port), '--dashboard-address', this.name];
    // So little that bars of memory are wide enough to be clicked.
    const memory = ['--memory-limit', '512MiB'];
    const size = ['--nworkers', '2', '--nthreads', '2', '--no-dashboard', ...memory];
    this._run(['-m', 'dask', 'scheduler', ...here, ...at]);
    this._run(['-m', 'dask', 'worker', this.address, ...here, ...size]);
    const until = Date.now() + START_LIMIT_MS;
    while (!(await this._hasWorkers(2))) {
      if (Date.now() > until) {
        await this.stop();
        throw new Error('The scheduler did not start.');
      }
      await new Promise(resolve => setTimeout(resolve, 200));
    }
  }

  /** Give it work until it is stopped. */
  work(): void {
    this._run(['-c', WORK, this.address]);
  }

  /** End it with its workers and its work. */
  async stop(): Promise<void> {
    await Promise.all(this._processes.splice(0).reverse().map(ended));
  }

  private async _hasWorkers(count: number): Promise<boolean> {
    try {
      const reply = await fetch(`${this.url}/json/identity.json`);
      const { workers } = (await reply.json()) as { workers: object };
      return Object.keys(workers).length >= count;
    } catch {
      return false; // it does not listen yet
    }
  }

  private _run(parameters: string[]): void {
    const PATH = `${path.dirname(PYTHON)}${path.delimiter}${process.env.PATH}`;
    const options = { env: { ...process.env, PATH }, stdio: 'ignore' } as const;
    this._processes.push(spawn(PYTHON, parameters, options));
  }

  private readonly _processes: ChildProcess[] = [];
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = new Promise(resolve => child.once('exit', resolve));
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await exit;
    clearTimeout(timer);
  }
}
