/** Whether somebody can see a widget: attached, shown, scrolled into view, in a visible page. */

import type { IDisposable } from '@lumino/disposable';
import type { Message } from '@lumino/messaging';
import { Signal, type ISignal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

import type { IVisibility } from '../api/visibility';

export class Sight implements IDisposable {
  constructor(
    private readonly _widget: Widget,
    private readonly _page: IVisibility
  ) {
    _page.changed.connect(this._check, this);
  }

  /** `isSeen` may have changed. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isSeen(): boolean {
    const { isAttached, isVisible } = this._widget;
    return isAttached && isVisible && this._isOnScreen && this._page.isVisible;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** The widget was told something; call it after the widget has dealt with it. */
  onMessage(message: Message): void {
    if (message.type === 'after-attach') {
      this._observe();
    } else if (message.type === 'before-detach') {
      this._observer?.disconnect();
    }
    if (/^after-(attach|detach|show|hide)$/.test(message.type)) {
      this._check();
    }
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._page.changed.disconnect(this._check, this);
    this._observer?.disconnect();
    Signal.clearData(this);
  }

  /** Cell outputs scroll out of view without any message. */
  private _observe(): void {
    if (typeof IntersectionObserver === 'undefined') {
      return;
    }
    this._observer = new IntersectionObserver(entries => {
      this._isOnScreen = entries[entries.length - 1]?.isIntersecting ?? true;
      this._check();
    });
    this._observer.observe(this._widget.node);
  }

  private _check(): void {
    if (!this._isDisposed) {
      this._changed.emit();
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private _observer: IntersectionObserver | null = null;
  private _isOnScreen = true;
  private _isDisposed = false;
}
