/** A sheet over a pane: how to read the plot, its data as a table, or a notice; Esc closes it. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { closeIcon, ReactWidget, Table } from '@jupyterlab/ui-components';
import React from 'react';

import type { ITable } from '../api/protocol';
import { formatCount, formatTime } from '../plot/format';
import type { IKey } from './services';

export class Card extends ReactWidget {
  /** @param name - tells one kind of card from another. */
  constructor(
    readonly name: string,
    private readonly _title: string,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-DaskDiag-card');
    this.node.tabIndex = -1;
    this.node.setAttribute('role', 'dialog');
    this.node.setAttribute('aria-label', _title);
    this.node.addEventListener('keydown', event => {
      if (event.key === 'Escape') {
        event.stopPropagation();
        this.dispose();
      }
    });
    // Letters typed over a sheet are no keys of the plot below.
    this.node.setAttribute('data-lm-suppress-shortcuts', 'true');
  }

  /** What is in the card; replaced as a whole, React keeps what is the same. */
  set content(content: JSX.Element) {
    this._content = content;
    this.update();
  }

  protected override render(): JSX.Element {
    const close = this._trans.__('Close');
    return (
      <>
        <header>
          <h2>{this._title}</h2>
          <button
            className="jp-mod-styled jp-mod-minimal"
            title={close}
            aria-label={close}
            onClick={() => this.dispose()}
          >
            <closeIcon.react tag="span" />
          </button>
        </header>
        <div className="jp-DaskDiag-cardBody" tabIndex={0}>
          {this._content ?? <p>{this._trans.__('Loading…')}</p>}
        </div>
      </>
    );
  }

  private _content: JSX.Element | null = null;
}

/** How to read a plot: paragraphs, and lines that begin with "- "; then the keys of a pane. */
export function Help(props: {
  readonly text: string;
  readonly caption: string;
  readonly keys: readonly IKey[];
}): JSX.Element {
  const blocks = props.text
    .split(/\n\s*\n|\n(?=\s*- )/)
    .map(one => one.trim().replace(/\s+/g, ' '));
  return (
    <>
      {blocks.filter(Boolean).map((block, i) => {
        const [, about, rest] = /^- +([^:]{1,60}):( .+)$/.exec(block) ?? [];
        return about === undefined ? (
          <p key={i}>{block.replace(/^- +/, '• ')}</p>
        ) : (
          <p key={i}>
            • <b>{about}</b>:{rest}
          </p>
        );
      })}
      <table className="jp-DaskDiag-keys">
        <caption>{props.caption}</caption>
        <tbody>
          {props.keys.map(({ keys, label }) => (
            <tr key={keys}>
              <th scope="row">
                <kbd>{keys}</kbd>
              </th>
              <td>{label}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** A table longer than this is cut on screen; the files have all of it. */
const SHOWN_ROWS = 500;

const MOMENT = 's since the epoch';

/** Names with numbers in them in the order in which people count: `worker-2` before `worker-10`. */
const COLLATOR = new Intl.Collator(undefined, { numeric: true });

/** A plot's data as a table, sorted by any column, with its files. */
export function DataTable(props: {
  readonly table: ITable;
  readonly trans: TranslationBundle;
  /** The address of the data as a file. */
  readonly href: (format: 'csv' | 'json') => string;
  readonly onRefresh: () => void;
}): JSX.Element {
  const { table, trans } = props;
  const names = Object.keys(table.columns);
  const count = table.columns[names[0] ?? '']?.length ?? 0;
  const rows = Array.from({ length: Math.min(count, SHOWN_ROWS) }, (_, i) => i);
  const cell = (name: string, row: number): unknown => table.columns[name]?.[row];
  const shown =
    count > SHOWN_ROWS
      ? trans.__('The first %1 of %2 rows', formatCount(SHOWN_ROWS), formatCount(count))
      : trans._n('%2 row', '%2 rows', count, formatCount(count));
  return (
    <>
      <p className="jp-DaskDiag-cardLinks">
        <span role="status">
          {count === 0 ? trans.__('Nothing to show yet.') : shown} ·{' '}
          {trans.__('as of %1', formatTime(Date.now()))}
        </span>
        <button className="jp-mod-styled jp-mod-minimal" onClick={props.onRefresh}>
          {trans.__('Refresh')}
        </button>
        {(['csv', 'json'] as const).map(format => (
          <a key={format} href={props.href(format)} download>
            {trans.__('Download %1', format.toUpperCase())}
          </a>
        ))}
      </p>
      {table.note !== '' && <p>{table.note}</p>}
      <Table
        blankIndicator={() => null}
        rows={rows.map(row => ({ key: String(row), data: row }))}
        columns={names.map(name => ({
          id: name,
          label: headText(trans.__(name), table.units[name] ?? ''),
          renderCell: (row: number) => cellText(cell(name, row), table.units[name] ?? ''),
          sort: (a: number, b: number) => compared(cell(name, a), cell(name, b))
        }))}
      />
    </>
  );
}

/** Return the order of two cells; missing ones come last. */
export function compared(one: unknown, other: unknown): number {
  if (one == null || other == null) {
    return Number(one == null) - Number(other == null);
  }
  return typeof one === 'number' && typeof other === 'number'
    ? one - other
    : COLLATOR.compare(String(one), String(other));
}

/** Return a column's heading; moments are shown as clock times, which need no unit. */
function headText(name: string, unit: string): string {
  return unit === '' || unit === MOMENT ? name : `${name} (${unit})`;
}

/** Return a cell's text: exact to six digits, times of day with their date and milliseconds. */
export function cellText(value: unknown, unit: string): string {
  if (value == null) {
    return '';
  }
  if (typeof value !== 'number') {
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  }
  const time = new Date(value * 1000);
  if (unit === MOMENT && !Number.isNaN(time.getTime())) {
    const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
    return local.toISOString().replace('T', ' ').slice(0, -1);
  }
  const digits = Math.abs(value) >= 1e5 ? value.toFixed(3) : value.toPrecision(6);
  return String(Number.isInteger(value) ? value : Number(digits));
}
