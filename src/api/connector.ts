/** Opens the live documents of plots through the relay. */

import { sessionReplyOf, type ILook, type PlotArguments } from '../wire';
import type { BokehLoader } from './bokeh';
import { connect } from './connection';
import { HeadStart, type IReady, type IWish } from './headstart';
import type { Server } from './server';
import { PlotSession, type IPlotSession } from './session';

/** Opens plots; the one thing a picture needs from outside. */
export interface IPlotConnector {
  open(dashboard: string, plot: string, look: ILook, given: PlotArguments): Promise<IPlotSession>;
  /** The same plot is likely to be opened in a moment: begin with what can be done before. */
  prepare(dashboard: string, plot: string, look: ILook, given: PlotArguments): void;
}

/** Opens plots of the dashboards behind the relay. */
export class PlotConnector implements IPlotConnector {
  constructor(
    private readonly _server: Server,
    private readonly _loader: BokehLoader
  ) {}

  async open(
    dashboard: string,
    plot: string,
    look: ILook,
    given: PlotArguments
  ): Promise<IPlotSession> {
    const { reply, bokeh } = await this._ahead.take({ dashboard, plot, look, given });
    const url = this._server.relaySocketUrl(dashboard, `${pathOf(plot)}/ws`);
    const connecting = connect(bokeh, url, reply, this._server.socketQuery);
    this._loader.loadWhenIdle(reply.bokeh, this._urlsOf(dashboard, reply.later));
    return new PlotSession(bokeh, connecting, this._server.trans);
  }

  prepare(dashboard: string, plot: string, look: ILook, given: PlotArguments): void {
    this._ahead.begin({ dashboard, plot, look, given });
  }

  private async _ask(wish: IWish, isAhead: boolean): Promise<IReady> {
    const { dashboard, plot, look, given } = wish;
    const body = { look, arguments: given, ahead: isAhead };
    const path = `${pathOf(plot)}/session`;
    const reply = sessionReplyOf(await this._server.postRelayed(dashboard, path, body));
    const repliedAt = Date.now();
    const bokeh = await this._loader.load(reply.bokeh, this._urlsOf(dashboard, reply.scripts));
    return { reply, repliedAt, bokeh };
  }

  private _urlsOf(dashboard: string, scripts: readonly string[]): readonly string[] {
    return scripts.map(script => this._server.relayUrl(dashboard, script));
  }

  private readonly _ahead = new HeadStart((wish, isAhead) => this._ask(wish, isAhead));
}

function pathOf(plot: string): string {
  return `plots/${encodeURIComponent(plot)}`;
}
