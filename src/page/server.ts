/** The dashboard that serves this page: at its own port, or behind Jupyter's relay. */

import { fieldsOf, isText, listOf, type Fields } from '../plot/control';
import type { ICluster } from '../plot/clusters';
import type { IPlotServer } from '../plot/session';

/** A kernel that holds the interpreter answers when it lets go (ms). */
const ANSWER_MS = 60_000;

const RELAYED = /^(.*\/)dask-diag-lab\/dashboards\/([^/]+)\/$/;

/** A dashboard in the list of the Jupyter server. */
export interface IListed extends ICluster {
  readonly name: string;
}

/** Knows only relative addresses, so that it works behind any prefix. */
export class PageServer implements IPlotServer {
  /** @param base - the root of the dashboard's pages. */
  constructor(readonly base: URL) {
    const [, jupyter, id] = RELAYED.exec(base.pathname) ?? [];
    this.jupyterPath = jupyter ?? null;
    this.id = id === undefined ? '' : decodeURIComponent(id);
  }

  /** The base URL of the Jupyter server that relays the page; null at the kernel's own port. */
  readonly jupyterPath: string | null;

  /** The dashboard's id; '' where nobody relays. */
  readonly id: string;

  readonly socketQuery = '';

  url(path: string): string {
    return new URL(path, this.base).href;
  }

  socketUrl(path: string): string {
    return this.url(path).replace(/^http/, 'ws');
  }

  post(path: string, body: object): Promise<unknown> {
    return this._fetch(this.url(path), {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...xsrf() },
      body: JSON.stringify(body)
    });
  }

  /** The dashboards of the Jupyter server, in the order in which they began; none without one. */
  async dashboards(): Promise<readonly IListed[]> {
    if (this.jupyterPath === null) {
      return [];
    }
    const url = new URL(`${this.jupyterPath}dask-diag-lab/api/dashboards`, this.base).href;
    const list = listOf(fieldsOf(await this._fetch(url), 'answer'), 'dashboards', 'answer');
    return list.map((one, i) => listedOf(fieldsOf(one, `dashboards[${i}]`)));
  }

  /** The address of a page like this one of another dashboard. */
  hrefAt(id: string, here: URL): string {
    const rest = here.pathname.slice(this.base.pathname.length);
    return new URL(`../${encodeURIComponent(id)}/${rest}${here.search}`, this.base).href;
  }

  private async _fetch(url: string, init: RequestInit = {}): Promise<unknown> {
    const reply = await fetch(url, {
      ...init,
      credentials: 'same-origin',
      signal: AbortSignal.timeout(ANSWER_MS)
    }).catch((error: unknown) => {
      const isLate = error instanceof DOMException && error.name === 'TimeoutError';
      throw new Error(isLate ? 'No answer; the kernel may be busy.' : 'Nothing answers there.');
    });
    const text = await reply.text();
    if (!reply.ok) {
      throw new Error(reasonIn(text) || `The server answered ${reply.status}.`);
    }
    return JSON.parse(text);
  }
}

/** Behind Jupyter's relay a POST has to repeat Jupyter's cookie; there is none elsewhere. */
function xsrf(): Record<string, string> {
  const [, value] = /(?:^|; )_xsrf=([^;]*)/.exec(document.cookie) ?? [];
  return value === undefined ? {} : { 'X-XSRFToken': value };
}

/** Our own server answers in plain text, Jupyter's in JSON with a message. */
function reasonIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as Fields; // whatever it is, it has no other fields
    return isText(message) ? message : '';
  } catch {
    return text.trim();
  }
}

function listedOf(fields: Fields): IListed {
  const text = (key: string): string => String(fields[key] ?? '');
  const kernel = fields['kernel_id'];
  return {
    id: text('id'),
    name: text('name'),
    kind: text('kind'),
    state: text('state'),
    kernel_id: isText(kernel) ? kernel : null
  };
}
