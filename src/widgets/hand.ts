/** Whether a hand is in a list: the pointer over it, or the focus where it holds the list. */

import type { IDisposable } from '@lumino/disposable';

export class Hand implements IDisposable {
  /**
   * @param _isHolding - whether the focus, when it is at an element, holds the list.
   * @param _onMoved - it came or went.
   */
  constructor(
    private readonly _area: HTMLElement,
    private readonly _isHolding: (focused: Element | null) => boolean,
    private readonly _onMoved: () => void
  ) {
    _area.addEventListener('pointerenter', () => this._setPointer(true));
    _area.addEventListener('pointerleave', () => this._setPointer(false));
    _area.addEventListener('focusout', event => this._onFocusOut(event));
    window.addEventListener('pointermove', this, { capture: true, passive: true });
  }

  get isHere(): boolean {
    return this._hasPointer || this._isHolding(document.activeElement);
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

  /**
   * Until the focus is at its next place the page says that it is nowhere: only the event tells
   * where it goes. A row that is taken away while it has the focus loses it in the middle of an
   * update of the list, which ends first.
   */
  private _onFocusOut({ relatedTarget: next }: FocusEvent): void {
    if (!(next instanceof Element && this._isHolding(next))) {
      queueMicrotask(() => this._tell());
    }
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
