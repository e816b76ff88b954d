/** Requests to the Jupyter server and the addresses below it; knows routes, not what they mean. */

import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import { Routes } from '../tokens';
import type { ITranslate } from './words';

/** How long an answer may take; a kernel that holds the interpreter answers late. */
const TIMEOUT_MS = 30_000;

/** Words that are longer are no answer for a pane. */
const MAX_REASON = 500;

/** A request that failed; `status` is null when no answer came at all. */
export class RequestError extends Error {
  constructor(
    readonly status: number | null,
    message: string
  ) {
    super(message);
  }
}

/** The way to the Jupyter server: every request carries its credentials and its XSRF token. */
export class Server {
  constructor(
    readonly settings: ServerConnection.ISettings,
    readonly trans: ITranslate
  ) {}

  /** The address of `path` of a dashboard, through the relay. */
  relayUrl(dashboard: string, path = ''): string {
    return URLExt.join(this.settings.baseUrl, this._relayPath(dashboard), path);
  }

  /** The websocket address of `path` of a dashboard, through the relay. */
  relaySocketUrl(dashboard: string, path: string): string {
    return URLExt.join(this.settings.wsUrl, this._relayPath(dashboard), path);
  }

  /** The address of the socket that pushes the dashboards. */
  get eventsUrl(): string {
    const url = URLExt.join(this.settings.wsUrl, Routes.events);
    return this.socketQuery === '' ? url : `${url}?${this.socketQuery}`;
  }

  /** Jupyter's own token for sockets, only where Lab itself sends it (a page of another origin). */
  get socketQuery(): string {
    const { appendToken, token } = this.settings;
    return appendToken && token !== '' ? `token=${encodeURIComponent(token)}` : '';
  }

  /** GET the dashboards. */
  async fetchDashboards(): Promise<unknown> {
    return this._json(URLExt.join(this.settings.baseUrl, Routes.dashboards), { method: 'GET' });
  }

  /** Add a dashboard by its address. */
  async addDashboard(url: string): Promise<unknown> {
    return this._json(URLExt.join(this.settings.baseUrl, Routes.dashboards), {
      method: 'POST',
      body: JSON.stringify({ url })
    });
  }

  /** GET JSON from a dashboard; a query comes with its question mark. */
  async fetchRelayed(dashboard: string, path: string, query = ''): Promise<unknown> {
    return this._json(this.relayUrl(dashboard, path) + query, { method: 'GET' });
  }

  /** POST JSON to a dashboard. */
  async postRelayed(dashboard: string, path: string, body: object): Promise<unknown> {
    return this._json(this.relayUrl(dashboard, path), {
      method: 'POST',
      body: JSON.stringify(body)
    });
  }

  private _lateWords(): string {
    return this.trans.__('No answer within %1 s.', String(TIMEOUT_MS / 1000));
  }

  private _relayPath(dashboard: string): string {
    return `${Routes.relay}/${encodeURIComponent(dashboard)}`;
  }

  private async _json(url: string, init: RequestInit): Promise<unknown> {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), TIMEOUT_MS);
    try {
      const request: RequestInit = {
        ...init,
        cache: 'no-cache', // with Lab's own `no-store` each query gets the time, which is no argument
        signal: abort.signal,
        headers: { 'Content-Type': 'application/json' }
      };
      const response = await ServerConnection.makeRequest(url, request, this.settings);
      if (!response.ok) {
        throw new RequestError(response.status, await reasonOf(response));
      }
      return await response.json();
    } catch (error) {
      throw abort.signal.aborted
        ? new RequestError(null, this._lateWords())
        : requestErrorOf(error, this.trans);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Jupyter's handlers answer `{"message", "reason"}`; anything else is told by its status. */
async function reasonOf(response: Response): Promise<string> {
  const status = `${response.status} ${response.statusText}`.trim();
  const text = (await response.text()).trim();
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null) {
      const { reason, message } = body as Record<string, unknown>; // any object has string keys
      const words = [reason, message].find(text => typeof text === 'string' && text !== '');
      return typeof words === 'string' ? words : status;
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) {
      throw error;
    }
    // Dashboards answer in plain words; anything between them and us may answer with a page.
    const isPlain = (response.headers.get('Content-Type') ?? '').startsWith('text/plain');
    return isPlain && text !== '' ? text.slice(0, MAX_REASON) : status;
  }
  return status;
}

function requestErrorOf(error: unknown, trans: ITranslate): RequestError {
  if (error instanceof RequestError) {
    return error;
  }
  if (error instanceof ServerConnection.NetworkError) {
    return new RequestError(null, trans.__('The Jupyter server does not answer.'));
  }
  return new RequestError(null, error instanceof Error ? error.message : String(error));
}
