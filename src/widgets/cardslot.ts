/** The one card that may lie over a picture: opened by name, closed by the same name or by Esc. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { card } from './card';
import { h } from './dom';

export class CardSlot {
  /** `onClosed`: somebody closed the card, and the focus has to go somewhere. */
  constructor(
    private readonly _host: HTMLElement,
    private readonly _trans: TranslationBundle,
    private readonly _onClosed: () => void
  ) {}

  get isOpen(): boolean {
    return this._card !== null;
  }

  /** Give the open card the focus; false where none is open. */
  focus(): boolean {
    this._card?.focus();
    return this.isOpen;
  }

  /** Open a card, or close it and return null when it is the one that is open. */
  toggle(name: string, title: string): HTMLElement | null {
    if (this._card?.dataset['name'] === name) {
      this.close();
      return null;
    }
    return this.open(name, title);
  }

  /** Open a card in place of the one that is open. */
  open(name: string, title: string): HTMLElement {
    this._card?.remove();
    const made = card(
      { title, trans: this._trans, onClose: () => this.close() },
      h('p', {}, this._trans.__('Loading…'))
    );
    made.dataset['name'] = name;
    this._card = made;
    this._cover(true);
    this._host.append(made);
    made.focus();
    return made;
  }

  /** Fill a card that `toggle` gave, unless it has been closed since. */
  fill(made: HTMLElement, ...content: readonly Node[]): void {
    const body = made.querySelector<HTMLElement>('.jp-DaskDiag-cardBody');
    if (made === this._card && body !== null) {
      const hadFocus = body.contains(document.activeElement);
      body.replaceChildren(...content);
      if (hadFocus) {
        (body.querySelector<HTMLElement>('button') ?? body).focus();
      }
    }
  }

  close(): void {
    this._card?.remove();
    this._card = null;
    this._cover(false);
    this._onClosed();
  }

  /** What lies under a card cannot be seen, so it does not get the focus either. */
  private _cover(isCovered: boolean): void {
    for (const child of this._host.children) {
      child.toggleAttribute('inert', isCovered);
    }
  }

  private _card: HTMLElement | null = null;
}
