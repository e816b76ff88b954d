/** A page's sockets by plain HTTP, for where a proxy lets no websocket pass. */

import { fieldsOf, listOf, type Fields } from './control';
import type { Ask } from './remote';
import type { IWay } from './socket';
import { randomId, Tunnel, type IPart } from './tunnel';

/** One exchange for all plots of the page: browsers have six connections to a server. */
export class Poll {
  /**
   * @param _jupyter - the base URL of the Jupyter server.
   * @param _note - what the reader is told of plots that come this way.
   */
  constructor(
    private readonly _ask: Ask,
    private readonly _jupyter: string,
    private readonly _note: string
  ) {}

  /** The ways through Jupyter's relay: `direct`, and where that fails, polling. */
  ways(direct: IWay, dashboard: string, path: string): readonly IWay[] {
    const way = this._tunnel.way(this._note, { dashboard, path });
    const polling = { ...way, onWon: () => (this._hasWon = true) };
    return this._hasWon ? [polling] : [direct, polling];
  }

  /** Send in order, one request at a time. */
  private _send(field: Fields): void {
    const key = this._key;
    this._sending = this._sending
      .then(async () => {
        if (key === this._key) {
          await this._ask(this._urlOf(key), 'POST', field);
          void this._receive(key);
        }
      })
      .catch((error: unknown) => this._fail(key, error));
  }

  /** Ask for messages while something is open; the server knows a key once something was sent. */
  private async _receive(key: string): Promise<void> {
    if (key !== this._key || this._receiving === key) {
      return;
    }
    this._receiving = key;
    try {
      while (key === this._key && this._tunnel.ids.length > 0) {
        const answer = await this._ask(this._urlOf(key), 'GET');
        const bytes = new Uint8Array(await answer.arrayBuffer());
        const end = bytes.indexOf(0x0a); // of the line that says what follows it
        const head = fieldsOf(JSON.parse(new TextDecoder().decode(bytes.slice(0, end))), 'poll');
        const parts = listOf(head, 'parts', 'poll') as readonly IPart[]; // our own extension's
        this._tunnel.take(parts, bytes.slice(end + 1));
      }
    } catch (error) {
      this._fail(key, error);
    }
    if (key === this._key) {
      this._receiving = '';
    }
  }

  /**
   * End all plots; they open again under another key. Under the same one the server would keep the
   * sockets of now, and a request that it has not given up would take the first messages.
   */
  private _fail(key: string, error: unknown): void {
    if (key === this._key) {
      this._key = randomId();
      this._sending = Promise.resolve();
      this._tunnel.end(error instanceof Error ? error.message : '');
    }
  }

  private _urlOf(key: string): string {
    return `${this._jupyter}dask-diag-lab/polls/${key}`;
  }

  private _key = randomId();
  private readonly _tunnel = new Tunnel(field => this._send(field));
  private _hasWon = false;
  /** The key under which messages are asked for; '' for none. */
  private _receiving = '';
  private _sending: Promise<void> = Promise.resolve();
}
