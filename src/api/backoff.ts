/** Waiting times between attempts: doubling, with a ceiling and some chance; no timers here. */

export interface IBackoffOptions {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Counts failures and says how long to wait before the next attempt. */
export class Backoff {
  constructor(
    private readonly _options: IBackoffOptions,
    private readonly _random: () => number = Math.random
  ) {}

  /** The wait before the next attempt, 75 to 100 % of the doubled one, so that pages spread out. */
  next(): number {
    const { firstMs, longestMs } = this._options;
    const wait = Math.min(firstMs * 2 ** this._failures, longestMs);
    this._failures += 1;
    return wait * (0.75 + 0.25 * this._random());
  }

  /** An attempt succeeded. */
  reset(): void {
    this._failures = 0;
  }

  private _failures = 0;
}
