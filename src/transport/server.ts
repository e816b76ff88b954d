/** Requests to the Jupyter server and the addresses below it. */

import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

import { queryOf, type PlotArguments } from '../protocol/control';
import * as protocol from '../protocol/dashboard';
import type { ITranslate } from '../text';
import { Routes } from '../tokens';
import { reasonOf, remoteServer, type Ask, type IPlotServer } from './remote';

/** How long an answer may take; a kernel that holds the interpreter answers late (ms). */
const TIMEOUT_MS = 30_000;

/** What Dask's own dashboard answers at little cost: its pages make it draw. */
const INDEX = 'individual-plots.json';

/** The Jupyter server: every request carries its credentials and its XSRF token. */
export class Server {
  /** @param _channelOf - the way to a dashboard that the relay does not lead to. */
  constructor(
    readonly settings: ServerConnection.ISettings,
    readonly trans: ITranslate,
    private readonly _channelOf: (dashboard: string) => IPlotServer | undefined = () => undefined
  ) {}

  /** The address of the socket that pushes the dashboards. */
  get eventsUrl(): string {
    return this._withToken(URLExt.join(this.settings.wsUrl, Routes.events));
  }

  /** A dashboard, through the relay or where else it is. */
  relayed(dashboard: string): IPlotServer {
    const channel = this._channelOf(dashboard);
    if (channel !== undefined) {
      return channel;
    }
    let known = this._relayed.get(dashboard);
    if (known === undefined) {
      const root = `${Routes.relay}/${encodeURIComponent(dashboard)}/`;
      const streamUrl = this._withToken(URLExt.join(this.settings.wsUrl, root, 'stream'));
      known = remoteServer(this._ask, this._url(root), streamUrl, this.trans);
      this._relayed.set(dashboard, known); // all its panes share a stream
    }
    return known;
  }

  /** The address of a dashboard's page through the relay. */
  relayUrl(dashboard: string, path: string): string {
    return this._url(`${Routes.relay}/${encodeURIComponent(dashboard)}/${path}`);
  }

  /** The address of a plot's own page through the relay. */
  plotUrl(dashboard: string, { name, route }: protocol.IPlot, given: PlotArguments): string {
    const path = route ?? `plots/${encodeURIComponent(name)}`;
    return this.relayUrl(dashboard, path) + queryOf(given);
  }

  /** Where a file of a plot's data is. */
  async dataUrl(
    dashboard: string,
    plot: string,
    given: PlotArguments,
    format: string
  ): Promise<string> {
    const path = `plots/${encodeURIComponent(plot)}.${format}${queryOf(given)}`;
    return this.relayed(dashboard).url(path);
  }

  async dashboards(): Promise<readonly protocol.IDashboard[]> {
    return protocol.dashboardsOf(await this._json(Routes.dashboards, 'GET'));
  }

  /** Add a dashboard by its address. */
  async addDashboard(url: string): Promise<void> {
    await this._json(Routes.dashboards, 'POST', { url });
  }

  /** Open a recording by its path among Jupyter's files; resolves with the id of its dashboard. */
  async openRecording(path: string): Promise<string> {
    return protocol.dashboardOf(await this._json(Routes.recordings, 'POST', { path })).id;
  }

  /** Take a dashboard that was added by hand off the list, or close a recording. */
  async removeDashboard(id: string): Promise<void> {
    await this._json(`${Routes.dashboards}/${encodeURIComponent(id)}`, 'DELETE');
  }

  /** Reject with the reason in words where one of Dask's own dashboards cannot be shown. */
  async reach(dashboard: string): Promise<void> {
    await this._json(`${Routes.relay}/${encodeURIComponent(dashboard)}/${INDEX}`, 'GET');
  }

  /** How to read a plot, in its dashboard's own words; '' for nothing. */
  async help(dashboard: string, plot: string): Promise<string> {
    const plots = protocol.plotsOf(await this.relayed(dashboard).get('plots.json'));
    return plots.find(({ name }) => name === plot)?.help ?? '';
  }

  /** Fetch the first rows of a table, by the column `sort`, after a `-` from its largest value on. */
  async table(
    dashboard: string,
    plot: string,
    given: PlotArguments,
    sort: string,
    limit: number
  ): Promise<protocol.ITable> {
    const query = queryOf({ ...given, sort, limit: String(limit) });
    const path = `plots/${encodeURIComponent(plot)}.json${query}`;
    return protocol.tableOf(await this.relayed(dashboard).get(path));
  }

  /** Add Jupyter's own token to a socket's address where Lab does (a page of another origin). */
  private _withToken(url: string): string {
    const { appendToken, token } = this.settings;
    return appendToken && token !== '' ? `${url}?token=${encodeURIComponent(token)}` : url;
  }

  private _url(path: string): string {
    return URLExt.join(this.settings.baseUrl, path);
  }

  private async _json(...[path, method, body]: Parameters<Ask>): Promise<unknown> {
    const response = await this._ask(this._url(path), method, body);
    return response.status === 204 ? null : response.json();
  }

  /** The dashboards that were looked at. */
  private readonly _relayed = new Map<string, IPlotServer>();

  private readonly _ask: Ask = async (url, method, body) => {
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
        throw new ServerConnection.ResponseError(response, (await reasonOf(response)) || undefined);
      }
      return response;
    } catch (error) {
      throw error instanceof ServerConnection.NetworkError
        ? new Error(this.trans.__('The Jupyter server does not answer.'))
        : error;
    }
  };
}
