/** A sheet over a pane: how to read the plot, or its data as a table; closed by Esc or its button. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { formatCount } from '../model/format';
import type { ITable } from '../wire';
import { h } from './dom';
import { closeCardIcon } from './icons';

/** A table longer than this is cut on screen; the files have all of it. */
const SHOWN_ROWS = 500;

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

export interface IDownload {
  readonly format: 'csv' | 'json';
  readonly url: string;
  readonly fileName: string;
}

/** Return a plot's data as a table for eyes and screen readers, with links to the files. */
export function tableContent(
  table: ITable,
  downloads: readonly IDownload[],
  trans: TranslationBundle
): HTMLElement[] {
  const names = Object.keys(table.columns);
  const rows = Math.max(0, ...names.map(name => table.columns[name]?.length ?? 0));
  const links = downloads.map(({ format, url, fileName }) =>
    h('a', { href: url, download: fileName }, trans.__('Download %1', format.toUpperCase()))
  );
  const bar = h('p', { class: 'jp-DaskDiag-cardLinks' }, rowsText(rows, trans), ...links);
  if (rows === 0) {
    return [bar];
  }
  return [bar, tableElement(table, names, Math.min(rows, SHOWN_ROWS))];
}

function rowsText(rows: number, trans: TranslationBundle): string {
  if (rows > SHOWN_ROWS) {
    return trans.__('The first %1 of %2 rows', formatCount(SHOWN_ROWS), formatCount(rows));
  }
  return rows === 0 ? trans.__('Nothing to show yet.') : trans.__('%1 rows', formatCount(rows));
}

function tableElement(table: ITable, names: readonly string[], rows: number): HTMLElement {
  const head = names.map(name => {
    const unit = table.units[name];
    return h(
      'th',
      { scope: 'col' },
      unit === undefined || unit === '' ? name : `${name} (${unit})`
    );
  });
  const body = Array.from({ length: rows }, (_, row) =>
    h('tr', {}, ...names.map(name => cell(table.columns[name]?.[row])))
  );
  return h('table', {}, h('thead', {}, h('tr', {}, ...head)), h('tbody', {}, ...body));
}

function cell(value: unknown): HTMLElement {
  if (typeof value === 'number') {
    // Six digits say enough, but seconds since the epoch need their milliseconds.
    const digits = Math.abs(value) >= 1e5 ? value.toFixed(3) : value.toPrecision(6);
    const text = Number.isInteger(value) ? value : Number(digits);
    return h('td', { class: 'jp-mod-number' }, String(text));
  }
  const isPlain = typeof value === 'string' || typeof value === 'boolean';
  return h('td', {}, isPlain ? String(value) : value == null ? '' : JSON.stringify(value));
}
