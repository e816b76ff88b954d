/** A sheet over a pane: how to read the plot, its data as a table, or a notice; Esc closes it. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { closeIcon, ReactWidget, Table, ToolbarButtonComponent } from '@jupyterlab/ui-components';
import React from 'react';

import { clock, count } from '../models/units';
import type { ITable } from '../protocol/dashboard';
import { helpNodes } from '../text';

export class PaneOverlay extends ReactWidget {
  /** @param name - tells one kind from another. */
  constructor(
    readonly name: string,
    private readonly _title: string,
    private readonly _trans: TranslationBundle
  ) {
    super();
    this.addClass('jp-DaskDiag-overlay');
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

  /** What is in it, until it is closed; replaced as a whole, React keeps what is the same. */
  set content(content: JSX.Element) {
    if (!this.isDisposed) {
      this._content = content;
      this.update();
    }
  }

  protected override render(): JSX.Element {
    return (
      <>
        <header>
          <h2>{this._title}</h2>
          <ToolbarButtonComponent
            icon={closeIcon}
            tooltip={this._trans.__('Close')}
            onClick={() => this.dispose()}
          />
        </header>
        <div className="jp-DaskDiag-overlayBody" tabIndex={0}>
          {this._content ?? <p>{this._trans.__('Loading…')}</p>}
        </div>
      </>
    );
  }

  private _content: JSX.Element | null = null;
}

/** How to read a plot. */
export function helpContent(text: string): JSX.Element {
  return <div ref={node => node?.replaceChildren(...helpNodes(text))} />;
}

/** A table longer than this is cut on screen; the files have all of it. */
export const SHOWN_ROWS = 500;

const MOMENT = 's since the epoch';

/** Names with numbers in them in the order in which people count: `worker-2` before `worker-10`. */
const { compare } = new Intl.Collator(undefined, { numeric: true });

/** A plot's data as a table, sorted by any column; of a longer one its first rows by that. */
export function tableContent(
  { columns, units, note, rows: total }: ITable,
  trans: TranslationBundle,
  onRefresh: () => void,
  onSort: (column: string) => void
): JSX.Element {
  const rows = Array.from({ length: Object.values(columns)[0]?.length ?? 0 }, (_, i) => i);
  const shown =
    total > SHOWN_ROWS
      ? trans.__('The first %1 of %2 rows', count(SHOWN_ROWS), count(total))
      : trans._n('%2 row', '%2 rows', total, count(total));
  return (
    <>
      <p className="jp-DaskDiag-overlayLinks">
        <span role="status">
          {total === 0 ? trans.__('Nothing to show yet.') : shown} ·{' '}
          {trans.__('as of %1', clock(Date.now() / 1000).slice(0, 8))}
        </span>
        <button className="jp-mod-styled jp-mod-minimal" onClick={onRefresh}>
          {trans.__('Refresh')}
        </button>
      </p>
      <p>{note}</p>
      <div
        onClick={({ target }) => {
          const column =
            target instanceof Element ? target.closest('th')?.dataset['id'] : undefined;
          if (column !== undefined) {
            onSort(column);
          }
        }}
      >
        <Table
          blankIndicator={() => null}
          rows={rows.map(row => ({ key: String(row), data: row }))}
          columns={Object.entries(columns).map(([name, cells]) => {
            const unit = units[name] ?? '';
            return {
              id: name,
              // Moments are shown as clock times, which need no unit.
              label: trans.gettext(name) + (unit === '' || unit === MOMENT ? '' : ` (${unit})`),
              renderCell: (row: number) => cellText(cells[row], unit),
              sort: (a: number, b: number) => compared(cells[a], cells[b])
            };
          })}
        />
      </div>
    </>
  );
}

/** Return the order of two cells; missing ones come last. */
function compared(one: unknown, other: unknown): number {
  return typeof one === 'number' && typeof other === 'number'
    ? one - other
    : compare(String(one ?? '\uffff'), String(other ?? '\uffff'));
}

/** Return a cell's text: exact to seven digits, times of day with their date and milliseconds. */
function cellText(value: unknown, unit: string): string {
  if (typeof value !== 'number') {
    return value !== null && typeof value === 'object'
      ? JSON.stringify(value)
      : String(value ?? '');
  }
  if (unit === MOMENT) {
    const time = new Date(value * 1000);
    const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
    return local.toISOString().replace('T', ' ').slice(0, -1);
  }
  return String(Number.isInteger(value) ? value : Number(value.toPrecision(7)));
}
