/** The dashboard that serves this page: at its own port, or behind Jupyter's relay. */

import { dashboardsOf, type IDashboard } from '../protocol/dashboard';
import { english } from '../text';
import { reasonOf, remoteServer, type IPlotServer } from '../transport/remote';

/** A kernel that holds the interpreter answers when it lets go (ms). */
const ANSWER_MS = 60_000;

const RELAYED = /^(.*\/)dask-diag-lab\/dashboards\/([^/]+)\/$/;

/** Knows only relative addresses, so that it works behind any prefix. */
export class PageServer {
  /** @param base - the root of the dashboard's pages. */
  constructor(readonly base: URL) {
    const [, jupyter, id = ''] = RELAYED.exec(base.pathname) ?? [];
    this.jupyterPath = jupyter ?? null;
    this.id = decodeURIComponent(id);
    const streamUrl = `${base.href.replace(/^http/, 'ws')}stream`;
    this.plots = remoteServer(ask, base.href, streamUrl, english);
  }

  /** The base URL of the Jupyter server that relays the page; null at the kernel's own port. */
  readonly jupyterPath: string | null;

  /** The dashboard's id; '' where nobody relays. */
  readonly id: string;

  /** What plots are asked of. */
  readonly plots: IPlotServer;

  /** The dashboards of the Jupyter server, in the order in which they began; none without one. */
  async dashboards(): Promise<readonly IDashboard[]> {
    const url = `${this.jupyterPath}dask-diag-lab/api/dashboards`;
    return this.jupyterPath === null ? [] : dashboardsOf(await (await ask(url)).json());
  }

  /** The address of a page like this one of another dashboard. */
  hrefAt(id: string, here: URL): string {
    const rest = here.pathname.slice(this.base.pathname.length);
    return new URL(`../${encodeURIComponent(id)}/${rest}${here.search}`, this.base).href;
  }
}

async function ask(url: string): Promise<Response> {
  const reply = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) }).catch(() => {
    throw new Error('No answer; the kernel may be busy or gone.');
  });
  if (!reply.ok) {
    throw new Error((await reasonOf(reply)) || `The server answered ${reply.status}.`);
  }
  return reply;
}
