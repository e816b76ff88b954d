/** A session that is asked for at the press, before the click or the drop that is to show it. */

import { isSameArguments, type ILook, type ISessionReply, type PlotArguments } from '../wire';
import type { IBokeh } from './bokeh';

/** What a session is asked for. */
export interface IWish {
  readonly dashboard: string;
  readonly plot: string;
  readonly look: ILook;
  readonly given: PlotArguments;
}

/** A session and what draws it: all that a connection needs. */
export interface IReady {
  readonly reply: ISessionReply;
  /** When the reply came, before BokehJS did (ms since the epoch). */
  readonly repliedAt: number;
  readonly bokeh: IBokeh;
}

/** From its reply to its connection (ms); the kernel drops the document 2 s later, at `AHEAD_S`. */
const FRESH_MS = 10_000;

/** Keeps the last session that was asked for ahead: a press is followed by its own click or drop. */
export class HeadStart {
  constructor(private readonly _ask: (wish: IWish, isAhead: boolean) => Promise<IReady>) {}

  /** Ask now for what is likely to be wanted soon. */
  begin(wish: IWish): void {
    const ready = this._ask(wish, true);
    const ahead = { wish, ready };
    this._ahead = ahead;
    ready.catch(() => {
      if (this._ahead === ahead) {
        this._ahead = null; // whoever wants it asks again, and hears why it failed
      }
    });
  }

  /** Return the session that was asked for ahead, to one who wants the same soon; else ask. */
  async take(wish: IWish): Promise<IReady> {
    const ahead = this._ahead;
    this._ahead = null; // a session is good for one connection
    if (ahead !== null && isSame(ahead.wish, wish)) {
      const ready = await ahead.ready;
      if (Date.now() - ready.repliedAt < FRESH_MS) {
        return ready;
      }
    }
    return this._ask(wish, false);
  }

  private _ahead: { wish: IWish; ready: Promise<IReady> } | null = null;
}

function isSame(one: IWish, other: IWish): boolean {
  return (
    one.dashboard === other.dashboard &&
    one.plot === other.plot &&
    JSON.stringify(one.look) === JSON.stringify(other.look) &&
    isSameArguments(one.given, other.given)
  );
}
