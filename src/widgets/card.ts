/** A sheet over a pane: how to read the plot, or its data as a table; closed by Esc or its button. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { h } from './dom';
import { closeCardIcon } from './icons';

export interface ICardOptions {
  readonly title: string;
  readonly trans: TranslationBundle;
  readonly onClose: () => void;
}

/** Return a card with a heading and a close button around its content. */
export function card(options: ICardOptions, ...content: Node[]): HTMLElement {
  const close = h('button', {
    type: 'button',
    class: 'jp-DaskDiag-toolbarButton',
    title: options.trans.__('Close'),
    'aria-label': options.trans.__('Close')
  });
  closeCardIcon.element({ container: close });
  close.addEventListener('click', options.onClose);
  const heading = h('h2', {}, options.title);
  return h(
    'section',
    { class: 'jp-DaskDiag-card', role: 'dialog', 'aria-label': options.title, tabindex: '-1' },
    h('header', {}, heading, close),
    h('div', { class: 'jp-DaskDiag-cardBody', tabindex: '0' }, ...content)
  );
}

/** Return paragraphs of plain text; blank lines part them. */
export function paragraphs(text: string): HTMLElement[] {
  return text
    .split(/\n\s*\n/)
    .map(part => part.trim())
    .filter(Boolean)
    .map(part => h('p', {}, part));
}

/** Return a table of keys and what they do. */
export function keysTable(
  caption: string,
  keys: readonly { readonly keys: string; readonly label: string }[]
): HTMLElement {
  const rows = keys.map(one =>
    h('tr', {}, h('th', { scope: 'row' }, h('kbd', {}, one.keys)), h('td', {}, one.label))
  );
  return h(
    'table',
    { class: 'jp-DaskDiag-keys' },
    h('caption', {}, caption),
    h('tbody', {}, ...rows)
  );
}
