/** A plot's data as a table for eyes and screen readers: sorted by any column, with its files. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { formatCount, formatMoment } from '../model/format';
import { cellText, headText, sortedRows, type ISortOrder } from '../model/tablerows';
import type { ITable } from '../wire';
import { h, setText } from './dom';

/** A table longer than this is cut on screen; the files have all of it. */
const SHOWN_ROWS = 500;

export interface IDownload {
  readonly format: 'csv' | 'json';
  readonly url: string;
  readonly fileName: string;
}

export interface ITableCardOptions {
  readonly title: string;
  readonly downloads: readonly IDownload[];
  readonly trans: TranslationBundle;
  /** Fetch the data of now; the card shows them once they are there. */
  readonly onRefresh: () => void;
  /** The order in which the rows were before a refresh. */
  readonly order: ISortOrder | null;
}

export class TableCard {
  constructor(
    private readonly _table: ITable,
    private readonly _options: ITableCardOptions
  ) {
    const { trans, downloads, onRefresh, order } = _options;
    this._order = order;
    this._names = Object.keys(_table.columns);
    this._count = Math.max(0, ...this._names.map(name => _table.columns[name]?.length ?? 0));
    const refresh = h('button', { type: 'button' }, trans.__('Refresh'));
    refresh.addEventListener('click', onRefresh);
    const links = downloads.map(({ format, url, fileName }) =>
      h('a', { href: url, download: fileName }, trans.__('Download %1', format.toUpperCase()))
    );
    const time = trans.__('as of %1', formatMoment(Date.now()));
    const words = h('span', { role: 'status' }, `${this._rowsText()} · ${time}`);
    this.nodes.push(h('p', { class: 'jp-DaskDiag-cardLinks' }, words, refresh, ...links));
    if (_table.note !== '') {
      this.nodes.push(h('p', {}, _table.note));
    }
    if (this._count > 0) {
      this.nodes.push(this._build());
      this._fill();
    }
  }

  readonly nodes: HTMLElement[] = [];

  /** The order that the user has chosen. */
  get order(): ISortOrder | null {
    return this._order;
  }

  private _rowsText(): string {
    const { trans } = this._options;
    const rows = formatCount(this._count);
    if (this._count > SHOWN_ROWS) {
      return trans.__('The first %1 of %2 rows', formatCount(SHOWN_ROWS), rows);
    }
    return this._count === 0
      ? trans.__('Nothing to show yet.')
      : trans._n('%2 row', '%2 rows', this._count, rows);
  }

  private _build(): HTMLElement {
    this._heads = this._names.map(name => {
      const button = h('button', { type: 'button' }, headText(name, this._table.units[name] ?? ''));
      button.title = this._options.trans.__('Sort by %1', name);
      button.addEventListener('click', () => this._sortBy(name));
      const kind = this._isNumber(name) ? { class: 'jp-mod-number' } : undefined;
      return h('th', { scope: 'col', ...kind }, button);
    });
    const caption = h('caption', {}, this._options.title);
    const head = h('thead', {}, h('tr', {}, ...this._heads));
    return h('table', {}, caption, head, this._body);
  }

  /** The first click sorts numbers down and texts up, the next one the other way. */
  private _sortBy(name: string): void {
    const isSame = this._order?.column === name;
    this._order = { column: name, isDown: isSame ? !this._order?.isDown : this._isNumber(name) };
    this._fill();
  }

  private _isNumber(name: string): boolean {
    return typeof this._table.columns[name]?.find(one => one != null) === 'number';
  }

  private _fill(): void {
    const rows = sortedRows(this._table, this._count, this._order).slice(0, SHOWN_ROWS);
    this._heads.forEach((head, i) => {
      const isSorted = this._names[i] === this._order?.column;
      const direction = this._order?.isDown ? 'descending' : 'ascending';
      head.setAttribute('aria-sort', isSorted ? direction : 'none');
    });
    this._body.replaceChildren(
      ...rows.map(row => h('tr', {}, ...this._names.map(name => this._cell(name, row))))
    );
  }

  private _cell(name: string, row: number): HTMLElement {
    const value = this._table.columns[name]?.[row];
    const unit = this._table.units[name] ?? '';
    const made = h('td', typeof value === 'number' ? { class: 'jp-mod-number' } : {});
    setText(made, cellText(value, unit));
    if (typeof value === 'string' && value.length > 40) {
      made.title = value;
    }
    return made;
  }

  private readonly _names: readonly string[];
  private readonly _count: number;
  private readonly _body = h('tbody');
  private _heads: readonly HTMLElement[] = [];
  private _order: ISortOrder | null;
}
