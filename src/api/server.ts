/** Requests to the Jupyter server and the addresses below it. */

import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import { queryOf, type PlotArguments } from '../plot/control';
import type { IPlotServer } from '../plot/session';
import type { ITranslate } from '../plot/text';
import { Routes } from '../tokens';
import * as protocol from './protocol';

/** How long an answer may take; a kernel that holds the interpreter answers late (ms). */
const TIMEOUT_MS = 30_000;

/** A longer answer is a page of whatever is between Jupyter and us, and no reason to show. */
const MAX_REASON = 500;

/** What Dask's own dashboard answers at little cost: its pages make it draw. */
const INDEX = 'individual-plots.json';

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
  plotUrl(dashboard: string, plot: protocol.IPlot, given: PlotArguments, suffix = ''): string {
    const path = plot.route ?? `plots/${encodeURIComponent(plot.name)}${suffix}`;
    return this.relayed(dashboard).url(path) + queryOf(given);
  }

  async dashboards(): Promise<readonly protocol.IDashboard[]> {
    return protocol.dashboardsOf(await this._json(Routes.dashboards, 'GET'));
  }

  /** Add a dashboard by its address; resolves with its id. */
  async addDashboard(url: string): Promise<string> {
    return protocol.dashboardOf(await this._json(Routes.dashboards, 'POST', { url })).id;
  }

  /** Take a dashboard that was added by hand off the list. */
  async removeDashboard(id: string): Promise<void> {
    await this._json(`${Routes.dashboards}/${encodeURIComponent(id)}`, 'DELETE');
  }

  /** Reject with the reason in words where one of Dask's own dashboards cannot be shown. */
  async reach(dashboard: string): Promise<void> {
    await this._json(`${Routes.relay}/${encodeURIComponent(dashboard)}/${INDEX}`, 'GET');
  }

  /** How to read a plot, in its dashboard's own words; '' for nothing. */
  async help(dashboard: string, plot: string): Promise<string> {
    const path = `${Routes.relay}/${encodeURIComponent(dashboard)}/plots.json`;
    const plots = protocol.plotsOf(await this._json(path, 'GET'));
    return plots.find(({ name }) => name === plot)?.help ?? '';
  }

  async table(dashboard: string, plot: string, given: PlotArguments): Promise<protocol.ITable> {
    const path = [dashboard, 'plots', `${plot}.json`].map(encodeURIComponent).join('/');
    return protocol.tableOf(await this._json(`${Routes.relay}/${path}${queryOf(given)}`, 'GET'));
  }

  /** Jupyter's own token for sockets, only where Lab itself sends it (a page of another origin). */
  private get _socketQuery(): string {
    const { appendToken, token } = this.settings;
    return appendToken && token !== '' ? `token=${encodeURIComponent(token)}` : '';
  }

  private async _json(
    path: string,
    method: 'GET' | 'POST' | 'DELETE',
    body?: object
  ): Promise<unknown> {
    const url = URLExt.join(this.settings.baseUrl, path);
    const request: RequestInit = {
      method,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: { 'Content-Type': 'application/json' },
      cache: 'no-cache', // with Lab's own `no-store` each query gets the time, which is no argument
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    };
    try {
      const response = await ServerConnection.makeRequest(url, request, this.settings);
      if (!response.ok) {
        throw await errorOf(response);
      }
      return response.status === 204 ? null : await response.json();
    } catch (error) {
      throw error instanceof ServerConnection.NetworkError
        ? new Error(this.trans.__('The Jupyter server does not answer.'))
        : error;
    }
  }
}

/** Jupyter's handlers answer JSON, dashboards plain text. */
async function errorOf(response: Response): Promise<ServerConnection.ResponseError> {
  if (!(response.headers.get('Content-Type') ?? '').startsWith('text/plain')) {
    return ServerConnection.ResponseError.create(response);
  }
  const reason = (await response.text()).trim().slice(0, MAX_REASON);
  return new ServerConnection.ResponseError(response, reason);
}
