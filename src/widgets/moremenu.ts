/** A button and its menu of what a row has no room for; the menu is Lab's own, with its keys. */

import { MenuSvg, type LabIcon } from '@jupyterlab/ui-components';
import { CommandRegistry } from '@lumino/commands';
import type { IDisposable } from '@lumino/disposable';
import type { Menu } from '@lumino/widgets';

import { h } from './dom';
import { moreIcon } from './icons';

export interface IMenuEntry {
  readonly name: string;
  readonly label: string;
  readonly icon: LabIcon;
  /** Why it can do nothing now; '' when it can. */
  readonly reason: string;
  readonly run: () => void;
}

export class MoreMenu implements IDisposable {
  /** `entries`: what there is, asked for each time the menu opens. */
  constructor(
    label: string,
    private readonly _entries: () => readonly IMenuEntry[]
  ) {
    this.button = h('button', {
      type: 'button',
      class: 'jp-DaskDiag-toolbarButton',
      'data-name': 'more',
      'aria-label': label,
      'aria-haspopup': 'menu',
      'aria-expanded': 'false',
      title: label
    });
    moreIcon.element({ container: this.button });
    this.button.addEventListener('pointerdown', event => (this._isClosing = event === this._press));
    this.button.addEventListener('click', event => this._onClick(event.detail === 0));
  }

  readonly button: HTMLButtonElement;

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  dispose(): void {
    this._isDisposed = true;
    this.close();
  }

  /** Close what is open; the focus goes to the button, which is to be visible still. */
  close(): void {
    this._menu?.close();
  }

  /** Sees a press before the menu does, which closes for each beside it: that of its button too. */
  handleEvent(event: Event): void {
    this._press = event;
  }

  /** Open it, but for the press that has closed it. */
  private _onClick(isByKey: boolean): void {
    if (isByKey || !this._isClosing) {
      this._open(isByKey);
    }
  }

  private _open(isByKey: boolean): void {
    const menu = (this._menu = this._filled());
    window.addEventListener('pointerdown', this, true);
    const { right, bottom } = this.button.getBoundingClientRect();
    menu.aboutToClose.connect(this._onClose, this);
    this.button.setAttribute('aria-expanded', 'true');
    menu.open(right, bottom, { horizontalAlignment: 'right' });
    if (isByKey) {
      menu.activateNextItem();
    }
  }

  private _filled(): Menu {
    const commands = new CommandRegistry();
    const menu = new MenuSvg({ commands });
    for (const { name, label, icon, reason, run } of this._entries()) {
      commands.addCommand(name, {
        label: [label, reason].filter(Boolean).join('. '), // a menu shows no captions
        icon,
        isEnabled: () => reason === '',
        execute: run
      });
      menu.addItem({ command: name });
    }
    return menu;
  }

  /** The focus comes back before what was chosen runs, which may take it on. */
  private _onClose(menu: Menu): void {
    this._menu = null;
    window.removeEventListener('pointerdown', this, true);
    this.button.setAttribute('aria-expanded', 'false');
    if (!this._isDisposed) {
      this.button.focus({ preventScroll: true });
    }
    // It still has to run what was chosen.
    queueMicrotask(() => menu.dispose());
  }

  private _menu: Menu | null = null;
  /** The last one while the menu was open. */
  private _press: Event | null = null;
  private _isClosing = false;
  private _isDisposed = false;
}
