/** A pane's thin row of buttons; one tab stop, arrow keys inside (the ARIA toolbar pattern). */

import type { LabIcon } from '@jupyterlab/ui-components';
import type { IDisposable } from '@lumino/disposable';

import { h } from './dom';
import { MoreMenu, type IMenuEntry } from './moremenu';

/** In a pane that is narrower, all buttons would leave too little of its title (px). */
const NARROW_PX = 480;

export interface IToolbarButton {
  readonly name: string;
  readonly label: string;
  readonly icon: LabIcon;
  readonly run: () => void;
  /** Stays in the row where there is no room for all; the others go into a menu there. */
  readonly isKept?: boolean;
}

/** A button and what it shows now. */
interface IShown {
  readonly button: IToolbarButton;
  readonly element: HTMLButtonElement;
  label: string;
  icon: LabIcon | null;
  /** Why it can do nothing now. */
  reason: string;
}

export class Toolbar implements IDisposable {
  /**
   * @param label - names the row.
   * @param moreLabel - names the menu of those that a narrow row has no room for.
   */
  constructor(label: string, moreLabel: string, buttons: readonly IToolbarButton[]) {
    this.node = h('div', { class: 'jp-DaskDiag-toolbar', role: 'toolbar', 'aria-label': label });
    this._more = new MoreMenu(moreLabel, () => this._folded());
    this._all = new Map(buttons.map(button => [button.name, this._make(button)]));
    this.node.append(...this._elements());
    this.node.addEventListener('keydown', event => this._onKey(event));
    this._fold(false);
  }

  readonly node: HTMLElement;

  get isDisposed(): boolean {
    return this._more.isDisposed;
  }

  /** Change what a button shows; an active one stands out. */
  set(name: string, label: string, icon: LabIcon, isActive = false): void {
    const shown = this._all.get(name);
    if (shown === undefined || (shown.label === label && shown.icon === icon)) {
      return;
    }
    shown.label = label;
    // Not `aria-pressed`: its label changes with what it does, so “pressed” would say the opposite.
    shown.element.dataset['active'] = String(isActive);
    this._present(shown, icon);
  }

  /** Say why a button can do nothing now, or '' when it can. */
  disable(name: string, reason: string): void {
    const shown = this._all.get(name);
    if (shown !== undefined && shown.reason !== reason) {
      shown.reason = reason;
      // Not `disabled`: it stays in the row of arrow keys, where its reason is read.
      shown.element.setAttribute('aria-disabled', String(reason !== ''));
      this._present(shown, shown.icon);
    }
  }

  /** Put into a menu what a pane that is `widthPx` wide has no room for; 0 where nobody knows. */
  fit(widthPx: number): void {
    if (widthPx > 0) {
      this._fold(widthPx < NARROW_PX);
    }
  }

  dispose(): void {
    this._more.dispose();
  }

  private _fold(isFolded: boolean): void {
    if (!isFolded) {
      this._more.close(); // before its button is hidden, which could not take the focus then
    }
    // Asked before one is hidden: a browser takes the focus from that at once.
    const focused = this._elements().find(element => element === document.activeElement);
    for (const { button, element } of this._all.values()) {
      element.hidden = isFolded && button.isKept !== true;
    }
    this._more.button.hidden = !isFolded;
    this.node.classList.toggle('jp-mod-folded', isFolded);
    const row = this._row();
    // The focus stays in the row.
    if (focused?.hidden === true) {
      row[row.length - 1]?.focus();
    }
    this._stopAt(row.find(element => element === document.activeElement) ?? row[0]);
  }

  /** In the order of the row, those that are hidden too. */
  private _elements(): readonly HTMLElement[] {
    return [...[...this._all.values()].map(({ element }) => element), this._more.button];
  }

  private _row(): readonly HTMLElement[] {
    return this._elements().filter(element => !element.hidden);
  }

  /** What the menu has now. */
  private _folded(): readonly IMenuEntry[] {
    return [...this._all.values()]
      .filter(({ element }) => element.hidden)
      .map(({ button, label, icon, reason }) => ({
        name: button.name,
        label,
        icon: icon ?? button.icon,
        reason,
        run: button.run
      }));
  }

  private _present(shown: IShown, icon: LabIcon | null): void {
    const { element, label, reason } = shown;
    const text = [label, reason].filter(Boolean).join('. ');
    element.title = text;
    element.setAttribute('aria-label', text);
    if (icon !== null && icon !== shown.icon) {
      shown.icon = icon;
      element.replaceChildren();
      icon.element({ container: element });
    }
  }

  private _make(button: IToolbarButton): IShown {
    const element = h('button', {
      type: 'button',
      class: 'jp-DaskDiag-toolbarButton',
      'data-name': button.name
    });
    element.addEventListener('click', () => {
      if (element.getAttribute('aria-disabled') !== 'true') {
        button.run();
      }
    });
    const shown: IShown = { button, element, label: button.label, icon: null, reason: '' };
    this._present(shown, button.icon);
    return shown;
  }

  private _onKey(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const row = this._row();
    const at = row.findIndex(element => element === document.activeElement);
    if (step === undefined || at < 0) {
      return;
    }
    const next = row[(at + step + row.length) % row.length];
    this._stopAt(next);
    next?.focus();
    event.preventDefault();
    event.stopPropagation();
  }

  /** Have the Tab key stop at one of them. */
  private _stopAt(stop: HTMLElement | undefined): void {
    for (const element of this._elements()) {
      element.tabIndex = element === stop ? 0 : -1;
    }
  }

  private readonly _more: MoreMenu;
  private readonly _all: ReadonlyMap<string, IShown>;
}
