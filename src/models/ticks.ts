/** Values and round ticks in the units of a plot's columns, as `views/data.py` names them. */

import { clock, count, duration, percent, significant, size } from './format';

export type Unit =
  'text' | 'key' | 'number' | 'count' | 'bytes' | 'rate' | 'percent' | 'seconds' | 'time';

const WRITE: Readonly<Record<string, (value: number) => string>> = {
  bytes: value => size(value, 'B', true),
  rate: value => size(value, 'B/s', false),
  seconds: duration,
  percent: value => percent(value / 100),
  count: value => (Number.isInteger(value) ? count(value) : significant(value)),
  time: value => clock(value).slice(0, 8)
};

/** Write a value in its unit, "unknown" for what is not known. */
export function write(unit: Unit, value: number): string {
  return Number.isFinite(value) ? (WRITE[unit] ?? significant)(value) : 'unknown';
}

/** Write a tick: it needs no digits that are zero. */
export function writeTick(unit: Unit, value: number): string {
  if (value === 0) {
    return '0';
  }
  const [number = '', ...rest] = write(unit, value).split(' ');
  const short = number.includes('.') ? number.replace(/\.?0+$/, '') : number;
  return [short, ...rest].join(' ');
}

const ROUND = [1, 2, 2.5, 5, 10];
const DAY = 86400;
const TIMES = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200],
  ...[1, 2, 5, 10, 20, 50, 100, 250, 500, 1000].map(days => days * DAY)
];

/** Return round numbers from 0 to `end`, at most about `wanted` of them beside the 0. */
export function ticks(unit: Unit, end: number, wanted: number): number[] {
  if (!(end > 0)) {
    return [0];
  }
  const possible = steps(unit, end, wanted);
  let step = possible.find(one => end / one <= wanted) ?? end / wanted;
  if (step > end) {
    step = possible.filter(one => one <= end).at(-1) ?? step; // 0 alone is no scale
  }
  const n = Math.floor((end / step) * (1 + 1e-9));
  return Array.from({ length: n + 1 }, (_, index) => index * step);
}

function steps(unit: Unit, end: number, wanted: number): readonly number[] {
  if (unit === 'bytes') {
    let base = 1024 ** Math.max(0, Math.floor(Math.log(end) / Math.log(1024)));
    base = end / base < 2 && base > 1 ? base / 1024 : base;
    return Array.from({ length: 10 }, (_, power) => base * 2 ** power);
  }
  if (unit === 'seconds' && end >= 5) {
    return TIMES;
  }
  if (unit === 'percent' && end > 150) {
    return steps('count', end / 100, wanted).map(cores => cores * 100); // whole cores
  }
  const base = 10 ** Math.floor(Math.log10(end / wanted));
  const found = [base, base * 10].flatMap(scale => ROUND.map(one => one * scale));
  return unit === 'count' ? found.filter(one => Number.isInteger(one)) : found;
}

const ENDS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10];
const BINARY_ENDS = [
  1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768
];
/** Share of the axis that the data falls below before it shrinks: less moves the picture often. */
const SHRINK_BELOW = 0.35;
/** The least ends of axes: noise near zero does not fill the picture. */
const LEAST: Readonly<Record<string, number>> = {
  bytes: 1 << 20,
  rate: 1e5,
  seconds: 1e-3,
  count: 1
};

/** Return a round end of an axis that reaches `most`: grows at once, shrinks late. */
export function axisEnd(unit: Unit, most: number, before: number): number {
  const value = Math.max(most, LEAST[unit] ?? 0);
  if (value <= before && value >= before * SHRINK_BELOW) {
    return before;
  }
  if (!(value > 0)) {
    return 1;
  }
  const radix = unit === 'bytes' ? 1024 : 10;
  const base = radix ** Math.floor(Math.log(value) / Math.log(radix) + 1e-9);
  const found = unit === 'bytes' ? [...BINARY_ENDS, 1024] : ENDS;
  return base * (found.find(one => one * base >= value * (1 - 1e-9)) ?? radix);
}
