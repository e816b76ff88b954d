/** The dashboard that serves this page: at its own port, or behind Jupyter's relay. */

import { dashboardsOf, type IDashboard } from '../api/protocol';
import { Poll, type Ask } from '../plot/polling';
import type { IPlotServer } from '../plot/session';
import { webSocketWay, type IWay } from '../plot/socket';

/** A kernel that holds the interpreter answers when it lets go (ms). */
const ANSWER_MS = 60_000;

const RELAYED = /^(.*\/)dask-diag-lab\/dashboards\/([^/]+)\/$/;

/** Knows only relative addresses, so that it works behind any prefix. */
export class PageServer implements IPlotServer {
  /** @param base - the root of the dashboard's pages. */
  constructor(readonly base: URL) {
    const [, jupyter, id = ''] = RELAYED.exec(base.pathname) ?? [];
    this.jupyterPath = jupyter ?? null;
    this.id = decodeURIComponent(id);
  }

  /** The base URL of the Jupyter server that relays the page; null at the kernel's own port. */
  readonly jupyterPath: string | null;

  /** The dashboard's id; '' where nobody relays. */
  readonly id: string;

  url(path: string): string {
    return new URL(path, this.base).href;
  }

  ways(path: string): readonly IWay[] {
    const direct = webSocketWay(this.url(path).replace(/^http/, 'ws'));
    if (this.jupyterPath === null) {
      return [direct];
    }
    return this._poll.ways(direct, this.id, path);
  }

  get(path: string): Promise<unknown> {
    return this._json(this.url(path));
  }

  post(path: string, body: object): Promise<unknown> {
    return this._json(this.url(path), 'POST', body);
  }

  /** The dashboards of the Jupyter server, in the order in which they began; none without one. */
  async dashboards(): Promise<readonly IDashboard[]> {
    const url = `${this.jupyterPath}dask-diag-lab/api/dashboards`;
    return this.jupyterPath === null ? [] : dashboardsOf(await this._json(url));
  }

  /** The address of a page like this one of another dashboard. */
  hrefAt(id: string, here: URL): string {
    const rest = here.pathname.slice(this.base.pathname.length);
    return new URL(`../${encodeURIComponent(id)}/${rest}${here.search}`, this.base).href;
  }

  private readonly _poll = new Poll(
    (path, method, body) => this._request(`${this.jupyterPath}${path}`, method, body),
    'by polling, because no websocket opens'
  );

  private async _json(url: string, method?: 'POST', body?: object): Promise<unknown> {
    return (await this._request(url, method ?? 'GET', body)).json();
  }

  private async _request(...[url, method, body]: Parameters<Ask>): Promise<Response> {
    // Behind Jupyter's relay what is no GET has to repeat Jupyter's cookie; there is none elsewhere.
    const [, token = ''] = /(?:^|; )_xsrf=([^;]*)/.exec(document.cookie) ?? [];
    const headers = { 'Content-Type': 'application/json', 'X-XSRFToken': token };
    const sent = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) };
    const signal = AbortSignal.timeout(ANSWER_MS);
    const reply = await fetch(url, { headers, ...sent, signal }).catch(() => {
      throw new Error('No answer; the kernel may be busy or gone.');
    });
    if (reply.ok) {
      return reply;
    }
    // Our own server answers in plain text, Jupyter's in JSON with a message.
    const text = await reply.text();
    const kind = reply.headers.get('Content-Type') ?? '';
    const { message } = (/json/.test(kind) ? JSON.parse(text) : {}) as { message?: string };
    const reason = message ?? (/^text\/plain/.test(kind) ? text.trim() : '');
    throw new Error(reason || `The server answered ${reply.status}.`);
  }
}
