/** A page's sockets by plain HTTP, for where a proxy lets no websocket pass. */

import { fieldsOf, listOf, type Fields } from './control';
import type { IWay } from './socket';
import { randomId, Tunnel, type IPart } from './tunnel';

/** Ask the Jupyter server; the path is below its base URL. */
export type Ask = (
  path: string,
  method: 'GET' | 'POST' | 'DELETE',
  body?: object
) => Promise<Response>;

/** One exchange for all plots of the page: browsers have six connections to a server. */
export class Poll {
  /** @param note - what the reader is told of plots that come this way. */
  constructor(
    private readonly _ask: Ask,
    private readonly _note: string
  ) {}

  /** The ways through Jupyter's relay: `direct`, and where that fails, polling. */
  ways(direct: IWay, dashboard: string, path: string): readonly IWay[] {
    const way = this._tunnel.way(this._note, { dashboard, path });
    const polling = { ...way, onWon: () => (this._hasWon = true) };
    return this._hasWon ? [polling] : [direct, polling];
  }

  /** Send in order, one request at a time; what fails ends all. */
  private _send(field: Fields): void {
    this._sending = this._sending
      .then(() => this._ask(this._path, 'POST', field))
      .then(() => void this._receive())
      .catch((error: unknown) => {
        this._tunnel.end(error instanceof Error ? error.message : '');
      });
  }

  /** Ask for messages while something is open. */
  private async _receive(): Promise<void> {
    if (this._isReceiving) {
      return;
    }
    this._isReceiving = true;
    try {
      while (this._tunnel.ids.length > 0) {
        const answer = await this._ask(this._path, 'GET');
        const bytes = new Uint8Array(await answer.arrayBuffer());
        const end = bytes.indexOf(0x0a); // of the line that says what follows it
        const head = fieldsOf(JSON.parse(new TextDecoder().decode(bytes.slice(0, end))), 'poll');
        const parts = listOf(head, 'parts', 'poll') as readonly IPart[]; // our own extension's
        this._tunnel.take(parts, bytes.slice(end + 1));
      }
    } catch (error) {
      this._tunnel.end(error instanceof Error ? error.message : '');
    }
    this._isReceiving = false;
  }

  private readonly _path = `dask-diag-lab/polls/${randomId()}`;
  private readonly _tunnel = new Tunnel(field => this._send(field));
  private _hasWon = false;
  private _isReceiving = false;
  private _sending: Promise<void> = Promise.resolve();
}
