/** Since when something is so, and a clock that ticks while it is waited for. */

import type { IDisposable } from '@lumino/disposable';

/** Since when (ms since the epoch) something is so; 0 while it is not. */
export class Since {
  get time(): number {
    return this._time;
  }

  note(isSo: boolean): void {
    this._time = isSo ? this._time || Date.now() : 0;
  }

  private _time = 0;
}

/** Calls once a second while it runs. */
export class Ticker implements IDisposable {
  constructor(private readonly _tick: () => void) {}

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  run(isWanted: boolean): void {
    if (isWanted && this._timer === undefined && !this._isDisposed) {
      this._timer = setInterval(this._tick, 1000);
    } else if (!isWanted) {
      clearInterval(this._timer);
      this._timer = undefined;
    }
  }

  dispose(): void {
    this._isDisposed = true;
    this.run(false);
  }

  private _timer: ReturnType<typeof setInterval> | undefined;
  private _isDisposed = false;
}
