/** A table's rows in order, and its cells as people read them; pure. */

import type { ITable } from '../wire';
import { formatMoment } from './format';

export interface ISortOrder {
  readonly column: string;
  readonly isDown: boolean;
}

/** Names with numbers in them in the order in which people count: `worker-2` before `worker-10`. */
const COLLATOR = new Intl.Collator(undefined, { numeric: true });

/** Return the indices of all rows in order; equal ones keep their place, missing ones come last. */
export function sortedRows(
  table: ITable,
  count: number,
  order: ISortOrder | null
): readonly number[] {
  const rows = Array.from({ length: count }, (_, row) => row);
  const column = order === null ? undefined : table.columns[order.column];
  if (order === null || column === undefined) {
    return rows;
  }
  const sign = order.isDown ? -1 : 1;
  return rows.sort((a, b) => {
    const [one, other] = [column[a], column[b]];
    if (one == null || other == null) {
      return Number(one == null) - Number(other == null);
    }
    return sign * compared(one, other);
  });
}

function compared(one: unknown, other: unknown): number {
  if (typeof one === 'number' && typeof other === 'number') {
    return one - other;
  }
  return COLLATOR.compare(String(one), String(other));
}

const MOMENT = 's since the epoch';

/** Return a column's heading; moments are shown as clock times, which need no unit. */
export function headText(name: string, unit: string): string {
  return unit === '' || unit === MOMENT ? name : `${name} (${unit})`;
}

/** Return a cell's text: exact to six digits, times of day with their date and milliseconds. */
export function cellText(value: unknown, unit: string): string {
  if (typeof value === 'number') {
    return unit === MOMENT ? momentText(value) : numberText(value);
  }
  if (value == null) {
    return '';
  }
  const isPlain = typeof value === 'string' || typeof value === 'boolean';
  return isPlain ? String(value) : JSON.stringify(value);
}

function numberText(value: number): string {
  if (Number.isInteger(value)) {
    return String(value);
  }
  return String(Number(Math.abs(value) >= 1e5 ? value.toFixed(3) : value.toPrecision(6)));
}

function momentText(seconds: number): string {
  const time = new Date(seconds * 1000);
  if (Number.isNaN(time.getTime())) {
    return String(seconds);
  }
  const day = [time.getFullYear(), time.getMonth() + 1, time.getDate()]
    .map(part => String(part).padStart(2, '0'))
    .join('-');
  const thousandths = String(time.getMilliseconds()).padStart(3, '0');
  return `${day} ${formatMoment(time.getTime())}.${thousandths}`;
}
