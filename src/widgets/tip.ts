/** The sentence beside a row: what a plot shows, for the pointer and for the keyboard. */

import type { IDisposable } from '@lumino/disposable';

import { h } from './dom';

/** Rows under a moving pointer stay quiet (ms). */
const DELAY_MS = 350;

/** One tip for a whole list; only one is ever shown. */
export class Tip implements IDisposable {
  readonly node = h('div', { class: 'jp-DaskDiag-tip', role: 'tooltip', hidden: '' });

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Show `text` at the right of `row` after a moment. */
  show(row: HTMLElement, text: string): void {
    this.hide();
    if (text === '') {
      return;
    }
    this._row = row;
    this._timer = setTimeout(() => {
      const box = row.getBoundingClientRect();
      this.node.textContent = text;
      this.node.hidden = false;
      document.body.append(this.node);
      const { width, height } = this.node.getBoundingClientRect();
      const left = Math.min(box.right + 6, window.innerWidth - width - 4);
      const top = Math.min(box.top, window.innerHeight - height - 4);
      this.node.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
    }, DELAY_MS);
  }

  hide(): void {
    clearTimeout(this._timer);
    this._row = null;
    this.node.hidden = true;
  }

  /** The list changed: a row that is no longer shown has no tip. */
  check(): void {
    const row = this._row;
    if (row !== null && (!row.isConnected || row.closest('[hidden]') !== null)) {
      this.hide();
    }
  }

  dispose(): void {
    this._isDisposed = true;
    this.hide();
    this.node.remove();
  }

  private _timer: ReturnType<typeof setTimeout> | undefined;
  private _row: HTMLElement | null = null;
  private _isDisposed = false;
}
