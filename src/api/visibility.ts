/** Whether anybody can see the page at all: not when its browser tab is hidden. */

import type { IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';

export interface IVisibility {
  readonly isVisible: boolean;
  readonly changed: ISignal<IVisibility, void>;
}

/** The visibility of the page we run in. */
export class PageVisibility implements IVisibility, IDisposable {
  constructor() {
    document.addEventListener('visibilitychange', this);
  }

  get isVisible(): boolean {
    return document.visibilityState !== 'hidden';
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  handleEvent(): void {
    this._changed.emit();
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    document.removeEventListener('visibilitychange', this);
    Signal.clearData(this);
  }

  private readonly _changed = new Signal<this, void>(this);
  private _isDisposed = false;
}
