/** Opens the live documents of plots through the relay. */

import { sessionReplyOf, type ILook, type ISessionReply, type PlotArguments } from '../wire';
import type { BokehLoader, IBokeh } from './bokeh';
import { connect } from './connection';
import { HeadStart, type IWish } from './headstart';
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
    const reply = await this._ahead.take({ dashboard, plot, look, given });
    const bokeh = await this._load(dashboard, reply);
    const url = this._server.relaySocketUrl(dashboard, `${pathOf(plot)}/ws`);
    const connecting = connect(bokeh, url, reply, this._server.socketQuery);
    this._loader.loadWhenIdle(reply.bokeh, this._urlsOf(dashboard, reply.later));
    return new PlotSession(bokeh, connecting, this._server.trans);
  }

  prepare(dashboard: string, plot: string, look: ILook, given: PlotArguments): void {
    this._ahead.begin({ dashboard, plot, look, given });
  }

  private async _ask({ dashboard, plot, look, given }: IWish): Promise<ISessionReply> {
    const wish = { look, arguments: given };
    const path = `${pathOf(plot)}/session`;
    const reply = sessionReplyOf(await this._server.postRelayed(dashboard, path, wish));
    this._load(dashboard, reply).catch(() => undefined); // whoever opens it hears why
    return reply;
  }

  private _load(dashboard: string, { bokeh, scripts }: ISessionReply): Promise<IBokeh> {
    return this._loader.load(bokeh, this._urlsOf(dashboard, scripts));
  }

  private _urlsOf(dashboard: string, scripts: readonly string[]): readonly string[] {
    return scripts.map(script => this._server.relayUrl(dashboard, script));
  }

  private readonly _ahead = new HeadStart(wish => this._ask(wish));
}

function pathOf(plot: string): string {
  return `plots/${encodeURIComponent(plot)}`;
}
