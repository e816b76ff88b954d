/** Requests to the Jupyter server and the addresses below it. */

import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import { isText, queryOf, type Fields, type PlotArguments } from '../plot/control';
import type { IPlotServer } from '../plot/session';
import type { ITranslate } from '../plot/text';
import { Routes } from '../tokens';
import {
  dashboardsOf,
  plotsOf,
  tableOf,
  type IDashboard,
  type IPlot,
  type ITable
} from './protocol';

/** How long an answer may take; a kernel that holds the interpreter answers late (ms). */
const TIMEOUT_MS = 30_000;

/** A longer answer is a page of whatever is between Jupyter and us, and no reason to show. */
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

/** The Jupyter server: every request carries its credentials and its XSRF token. */
export class Server {
  constructor(
    readonly settings: ServerConnection.ISettings,
    readonly trans: ITranslate
  ) {}

  /** The address of the socket that pushes the dashboards. */
  get eventsUrl(): string {
    const url = URLExt.join(this.settings.wsUrl, Routes.events);
    return this._socketQuery === '' ? url : `${url}?${this._socketQuery}`;
  }

  /** A dashboard, through the relay. */
  relayed(dashboard: string): IPlotServer {
    const path = `${Routes.relay}/${encodeURIComponent(dashboard)}`;
    return {
      post: (below, body) => this._json(`${path}/${below}`, 'POST', body),
      url: below => URLExt.join(this.settings.baseUrl, path, below),
      socketUrl: below => URLExt.join(this.settings.wsUrl, path, below),
      socketQuery: this._socketQuery
    };
  }

  /** The address of a plot's own page, or of its data, through the relay. */
  plotUrl(dashboard: string, plot: IPlot, given: PlotArguments, suffix = ''): string {
    const path = plot.route ?? `plots/${encodeURIComponent(plot.name)}${suffix}`;
    return this.relayed(dashboard).url(path) + queryOf(given);
  }

  async dashboards(): Promise<readonly IDashboard[]> {
    return dashboardsOf(await this._json(Routes.dashboards, 'GET'));
  }

  /** Add a dashboard by its address. */
  async addDashboard(url: string): Promise<void> {
    await this._json(Routes.dashboards, 'POST', { url });
  }

  /** How to read a plot, in its dashboard's own words; '' for nothing. */
  async help(dashboard: string, plot: string): Promise<string> {
    const path = `${Routes.relay}/${encodeURIComponent(dashboard)}/plots.json`;
    const plots = plotsOf(await this._json(path, 'GET'));
    return plots.find(({ name }) => name === plot)?.help ?? '';
  }

  async table(dashboard: string, plot: string, given: PlotArguments): Promise<ITable> {
    const path = `${Routes.relay}/${encodeURIComponent(dashboard)}/plots/${encodeURIComponent(plot)}`;
    return tableOf(await this._json(`${path}.json${queryOf(given)}`, 'GET'));
  }

  /** Jupyter's own token for sockets, only where Lab itself sends it (a page of another origin). */
  private get _socketQuery(): string {
    const { appendToken, token } = this.settings;
    return appendToken && token !== '' ? `token=${encodeURIComponent(token)}` : '';
  }

  private async _json(path: string, method: 'GET' | 'POST', body?: object): Promise<unknown> {
    const url = URLExt.join(this.settings.baseUrl, path);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const request: RequestInit = {
        method,
        signal,
        cache: 'no-cache', // with Lab's own `no-store` each query gets the time, which is no argument
        headers: { 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      };
      const response = await ServerConnection.makeRequest(url, request, this.settings);
      if (!response.ok) {
        throw new RequestError(response.status, await reasonOf(response));
      }
      return await response.json();
    } catch (error) {
      if (signal.aborted) {
        const seconds = TIMEOUT_MS / 1000;
        throw new RequestError(null, this.trans.__('No answer within %1 s.', seconds));
      }
      if (error instanceof ServerConnection.NetworkError) {
        throw new RequestError(null, this.trans.__('The Jupyter server does not answer.'));
      }
      throw error;
    }
  }
}

/** Jupyter's handlers answer JSON, dashboards plain text; anything else is told by its status. */
async function reasonOf(response: Response): Promise<string> {
  const status = `${response.status} ${response.statusText}`.trim();
  const text = (await response.text()).trim();
  if ((response.headers.get('Content-Type') ?? '').startsWith('text/plain')) {
    return text.slice(0, MAX_REASON) || status;
  }
  try {
    const { reason, message } = Object(JSON.parse(text)) as Fields; // whatever it is
    return [reason, message].filter(isText).find(Boolean) ?? status;
  } catch {
    return status;
  }
}
