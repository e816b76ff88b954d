/** Whether a hand is in a list: the pointer over it, or the focus in one of its rows. */

import type { IDisposable } from '@lumino/disposable';

export class Hand implements IDisposable {
  /** `onMoved`: it came or went. */
  constructor(
    private readonly _area: HTMLElement,
    private readonly _rows: HTMLElement,
    private readonly _onMoved: () => void
  ) {
    _area.addEventListener('pointerenter', () => this._setPointer(true));
    _area.addEventListener('pointerleave', () => this._setPointer(false));
    // The focus is at its next place only after the event.
    _rows.addEventListener('focusout', () => queueMicrotask(() => this._tell()));
    window.addEventListener('pointermove', this, { capture: true, passive: true });
  }

  get isHere(): boolean {
    return this._hasPointer || this._rows.contains(document.activeElement);
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** A drag, ours or another one, swallows the event by which the pointer leaves. */
  handleEvent(event: PointerEvent): void {
    if (this._hasPointer && !event.composedPath().includes(this._area)) {
      this._setPointer(false);
    }
  }

  dispose(): void {
    this._isDisposed = true;
    window.removeEventListener('pointermove', this, { capture: true });
  }

  private _setPointer(isHere: boolean): void {
    this._hasPointer = isHere;
    this._tell();
  }

  private _tell(): void {
    if (!this._isDisposed) {
      this._onMoved();
    }
  }

  private _hasPointer = false;
  private _isDisposed = false;
}
