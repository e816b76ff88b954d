/** Numbers as people read them, by the same rules as `views/format.py`, and round ticks of axes. */

const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL = ['', 'k', 'M', 'G', 'T', 'P'];

/** Three significant digits, or a whole number. */
function significant(value: number): string {
  return value === 0 || Math.abs(value) >= 999.5 ? value.toFixed(0) : value.toPrecision(3);
}

/** A size or a rate: "1.50 GiB" with binary steps, "1.61 GB/s" with decimal ones. */
export function size(value: number, unit: string, isBinary: boolean): string {
  const [names, base] = isBinary ? [BINARY, 1024] : [DECIMAL, 1000];
  let step = 0;
  for (; Math.abs(value) >= 999.5 && step < names.length - 1; step++) {
    value /= base;
  }
  const number = isBinary && step === 0 ? value.toFixed(0) : significant(value);
  return `${number} ${names[step]}${unit}`;
}

/** A share (1 is everything) in percent, with a decimal below 10 %, as `percent` in Python. */
export function percent(share: number): string {
  const value = share * 100;
  if (value > 99 && value < 100 - 1e-7) {
    return '99 %';
  }
  if (value > 0 && value < 0.05) {
    return '<0.1 %';
  }
  return value >= 9.95 || value === 0 ? `${value.toFixed(0)} %` : `${value.toFixed(1)} %`;
}

/** A whole number, with groups of three digits set apart from 10 000 on. */
export function count(value: number): string {
  const whole = String(Math.round(value));
  return Math.abs(value) >= 10_000 ? whole.replace(/\B(?=(\d{3})+$)/g, '\u202f') : whole;
}

const LONG: readonly (readonly [string, string, number, number])[] = [
  ['d', 'h', 86400, 3600],
  ['h', 'min', 3600, 60],
  ['min', 's', 60, 1]
];

/** A duration in the unit that suits it, from "12.3 ms" to "3 d 4 h", as `duration` in Python. */
export function duration(s: number): string {
  if (s < 0) {
    return `-${duration(-s)}`;
  }
  if (s < 59.95) {
    const [times, unit] = s >= 0.9995 ? [1, 's'] : s >= 0.9995e-3 ? [1e3, 'ms'] : [1e6, 'µs'];
    return s === 0 ? '0 s' : `${significant(s * times)} ${unit}`;
  }
  const whole = Math.round(s);
  for (const [big, small, bigS, smallS] of LONG) {
    if (whole >= bigS) {
      const rest = Math.floor((whole % bigS) / smallS);
      return `${Math.floor(whole / bigS)} ${big}${rest > 0 ? ` ${rest} ${small}` : ''}`;
    }
  }
  return `${whole} s`;
}

/** The time of day with milliseconds, of seconds since the epoch. */
export function clock(s: number): string {
  const time = new Date(s * 1000);
  const two = (x: number): string => String(x).padStart(2, '0');
  const parts = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two);
  return `${parts.join(':')}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}

/** A tick among others, in seconds of a run: "1 h 5 min 2.5 s"; left of 0 "10 s before". */
export function runTime(tick: number, ticks: readonly number[]): string {
  const step = Math.abs((ticks[1] ?? 0) - (ticks[0] ?? 0)) || 1;
  const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-6));
  // In steps of the last digit, so that 59.9996 s are a minute.
  const s = Number(Math.abs(tick).toFixed(digits));
  const parts: readonly (readonly [number | string, string])[] = [
    [Math.floor(s / 86400), 'd'],
    [Math.floor((s % 86400) / 3600), 'h'],
    [Math.floor((s % 3600) / 60), 'min'],
    [(s % 60).toFixed(digits), 's']
  ];
  const words = parts.filter(([n]) => Number(n) !== 0).map(([n, name]) => `${n} ${name}`);
  return words.length === 0 ? '0 s' : words.join(' ') + (tick < 0 ? ' before' : '');
}

/** Of a column, as `views/data.py` names them. */
export type Unit =
  'text' | 'key' | 'number' | 'count' | 'bytes' | 'rate' | 'percent' | 'seconds' | 'time';

const WRITE: Readonly<Record<string, (value: number) => string>> = {
  bytes: value => size(value, 'B', true),
  rate: value => size(value, 'B/s', false),
  seconds: duration,
  percent: value => percent(value / 100),
  time: value => clock(value).slice(0, 8)
};

function some(value: number): string {
  return Number.isInteger(value) ? count(value) : significant(value);
}

/** Write a value in its unit, "unknown" for what is not known. */
export function write(unit: Unit, value: number): string {
  return Number.isFinite(value) ? (WRITE[unit] ?? some)(value) : 'unknown';
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

/** Share of the axis that the data falls below before it shrinks: less moves the picture often. */
const SHRINK_BELOW = 0.35;
/** The least ends of axes: noise near zero does not fill the picture. */
const LEAST: Readonly<Record<string, number>> = {
  bytes: 1 << 20,
  rate: 1e5,
  seconds: 1e-3,
  count: 1
};

/** Return the tick at which an axis ends that reaches `most`: grows at once, shrinks late. */
export function axisEnd(unit: Unit, most: number, before: number): number {
  const value = Math.max(most, LEAST[unit] ?? 0);
  if (value <= before && value >= before * SHRINK_BELOW) {
    return before;
  }
  const [, step = 1] = ticks(unit, value, 5);
  return step * Math.max(Math.ceil((value / step) * (1 - 1e-9)), 1);
}
