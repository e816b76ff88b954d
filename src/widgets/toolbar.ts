/** A pane's thin row of buttons; one tab stop, arrow keys inside (the ARIA toolbar pattern). */

import type { LabIcon } from '@jupyterlab/ui-components';

import { h } from './dom';

export interface IToolbarButton {
  readonly name: string;
  readonly label: string;
  readonly icon: LabIcon;
  readonly run: () => void;
}

export class Toolbar {
  constructor(label: string, buttons: readonly IToolbarButton[]) {
    this.node = h('div', { class: 'jp-DaskDiag-toolbar', role: 'toolbar', 'aria-label': label });
    buttons.forEach((button, i) => this.node.append(this._make(button, i === 0)));
    this.node.addEventListener('keydown', event => this._onKey(event));
  }

  readonly node: HTMLElement;

  /** Change what a button shows; an active one stands out. */
  set(name: string, label: string, icon: LabIcon, isActive = false): void {
    const element = this._elements.get(name);
    if (
      element === undefined ||
      (this._labels.get(name) === label && this._icons.get(name) === icon)
    ) {
      return;
    }
    this._labels.set(name, label);
    this._label(name, element);
    // Not `aria-pressed`: its label changes with what it does, so “pressed” would say the opposite.
    element.dataset['active'] = String(isActive);
    element.replaceChildren();
    icon.element({ container: element });
    this._icons.set(name, icon);
  }

  /** Say why a button can do nothing now, or '' when it can. */
  disable(name: string, reason: string): void {
    const element = this._elements.get(name);
    if (element === undefined || (this._reasons.get(name) ?? '') === reason) {
      return;
    }
    this._reasons.set(name, reason);
    // Not `disabled`: it stays in the row of arrow keys, where its reason is read.
    element.setAttribute('aria-disabled', String(reason !== ''));
    this._label(name, element);
  }

  private _label(name: string, element: HTMLElement): void {
    const text = [this._labels.get(name), this._reasons.get(name)].filter(Boolean).join('. ');
    element.title = text;
    element.setAttribute('aria-label', text);
  }

  private _make(button: IToolbarButton, isFirst: boolean): HTMLElement {
    const element = h('button', {
      type: 'button',
      class: 'jp-DaskDiag-toolbarButton',
      'data-name': button.name,
      tabindex: isFirst ? '0' : '-1'
    });
    element.addEventListener('click', () => {
      if (element.getAttribute('aria-disabled') !== 'true') {
        button.run();
      }
    });
    this._elements.set(button.name, element);
    this.set(button.name, button.label, button.icon);
    return element;
  }

  private _onKey(event: KeyboardEvent): void {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const elements = [...this._elements.values()];
    const at = elements.findIndex(element => element === document.activeElement);
    if (step === undefined || at < 0) {
      return;
    }
    const next = elements[(at + step + elements.length) % elements.length];
    elements.forEach(element => (element.tabIndex = element === next ? 0 : -1));
    next?.focus();
    event.preventDefault();
    event.stopPropagation();
  }

  private readonly _elements = new Map<string, HTMLButtonElement>();
  private readonly _labels = new Map<string, string>();
  private readonly _reasons = new Map<string, string>();
  private readonly _icons = new Map<string, LabIcon>();
}
