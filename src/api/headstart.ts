/** A session that is asked for at the press, before the click or the drop that is to show it. */

import { isSameArguments, type ILook, type ISessionReply, type PlotArguments } from '../wire';

/** What a session is asked for. */
export interface IWish {
  readonly dashboard: string;
  readonly plot: string;
  readonly look: ILook;
  readonly given: PlotArguments;
}

/** One that nobody took by then has old data, and soon no document any more (ms). */
const FRESH_MS = 10_000;

/** Keeps the last answer that was asked for ahead: a press is followed by its own click or drop. */
export class HeadStart {
  constructor(private readonly _ask: (wish: IWish) => Promise<ISessionReply>) {}

  /** Ask now for what is likely to be wanted soon. */
  begin(wish: IWish): void {
    const reply = this._ask(wish);
    const ahead = { wish, reply, at: Date.now() };
    this._ahead = ahead;
    reply.catch(() => {
      if (this._ahead === ahead) {
        this._ahead = null; // whoever wants it asks again, and hears why it failed
      }
    });
  }

  /** Return the answer that was asked for ahead, to one who wants the same soon; else ask. */
  take(wish: IWish): Promise<ISessionReply> {
    const ahead = this._ahead;
    this._ahead = null; // a session is good for one connection
    const isMeant = ahead !== null && isSame(ahead.wish, wish);
    return isMeant && Date.now() - ahead.at < FRESH_MS ? ahead.reply : this._ask(wish);
  }

  private _ahead: { wish: IWish; reply: Promise<ISessionReply>; at: number } | null = null;
}

function isSame(one: IWish, other: IWish): boolean {
  return (
    one.dashboard === other.dashboard &&
    one.plot === other.plot &&
    JSON.stringify(one.look) === JSON.stringify(other.look) &&
    isSameArguments(one.given, other.given)
  );
}
