/** A dashboard's server by HTTP: behind Jupyter's relay, or at its own port. */

import { isText, type Fields } from '../protocol/control';
import type { ITranslate } from '../text';
import { PlotStream, webSocketTransport } from './stream';

/** A dashboard's server, wherever it is; paths are relative to it. */
export interface IPlotServer {
  /** Resolves with JSON. */
  get(path: string): Promise<unknown>;
  /** Where a file is, or once it has been fetched, a copy of it. */
  url(path: string): string | Promise<string>;
  /** All its plots in this page. */
  readonly stream: PlotStream;
}

/** Ask a server; rejects with the reason where there is no answer, or one of an error. */
export type Ask = (
  url: string,
  method: 'GET' | 'POST' | 'DELETE',
  body?: object
) => Promise<Response>;

/** A longer answer is a page of whatever is between the server and us, and no reason to show. */
const MAX_REASON = 500;

/** The server whose paths are below `root`, and whose stream is a websocket at `streamUrl`. */
export function remoteServer(
  ask: Ask,
  root: string,
  streamUrl: string,
  trans: ITranslate
): IPlotServer {
  return {
    get: async path => (await ask(root + path, 'GET')).json(),
    url: path => root + path,
    stream: new PlotStream(webSocketTransport(streamUrl), trans)
  };
}

/** Return why a request failed; '' where that is not said. */
export async function reasonOf(response: Response): Promise<string> {
  if (/^text\/plain/.test(response.headers.get('Content-Type') ?? '')) {
    return (await response.text()).trim().slice(0, MAX_REASON); // of a dashboard
  }
  const answer: unknown = await response.json().catch(() => null); // of Jupyter, or a proxy's page
  const { message } = Object(answer) as Fields; // any has fields
  return isText(message) ? message : '';
}
