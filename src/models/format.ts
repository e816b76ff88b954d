/** Numbers as people read them; the same rules as `views/format.py`. */

const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL = ['', 'k', 'M', 'G', 'T', 'P'];

/** As toFixed, but of two numbers that are equally near the even one, as in Python. */
function fixed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  // A hundred digits, the most there are, write a number of this size exactly.
  const rest = value.toFixed(100).split('.')[1] ?? '';
  const last = Number(text.at(-1));
  // toFixed went away from zero: the even one is that before an odd one.
  const isWrong = /^50*$/.test(rest.slice(digits)) && last % 2 === 1;
  return isWrong ? `${text.slice(0, -1)}${last - 1}` : text;
}

/** Three significant digits. */
export function significant(value: number): string {
  const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  const text = fixed(value, digits);
  // 9.996 rounds to 10.0, not to 10.00.
  const isLong = text.replace(/[-.]/g, '').replace(/^0+/, '').length > 3;
  return isLong && digits > 0 ? fixed(value, digits - 1) : text;
}

/** A size or a rate: "1.50 GiB" with binary steps, "1.61 GB/s" with decimal ones. */
export function size(value: number, unit: string, isBinary: boolean): string {
  const [names, base] = isBinary ? [BINARY, 1024] : [DECIMAL, 1000];
  let step = 0;
  for (; Math.abs(value) >= 999.5 && step < names.length - 1; step++) {
    value /= base;
  }
  const number = isBinary && step === 0 ? fixed(value, 0) : significant(value);
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

/** A tick among others, in seconds of a run: "1 h 5 min"; left of 0 "10 s before". */
export function runTime(tick: number, ticks: readonly number[]): string {
  const [first, second] = ticks;
  const isOne = first === undefined || second === undefined;
  const step = isOne ? Math.abs(tick) || 1 : Math.abs(second - first);
  const most = Math.max(...ticks.map(Math.abs));
  const before = tick < 0 ? ' before' : '';
  const s = Math.abs(tick);
  if (s < step / 1e6) {
    return '0 s';
  }
  const [unit, times] = most >= 1 ? ['s', 1] : most >= 1e-3 ? ['ms', 1e3] : ['µs', 1e6];
  const digits = Math.max(0, Math.ceil(-Math.log10(step * times) - 1e-6));
  if (s < 60 - step / 1e6) {
    return `${(s * times).toFixed(digits)} ${unit}${before}`;
  }
  const rest = (s % 60).toFixed(digits);
  const carry = Number(rest) >= 60 ? 1 : 0;
  const minutes = Math.floor(s / 60) + carry;
  const parts: readonly (readonly [number | string, string])[] = [
    [Math.floor(minutes / 1440), 'd'],
    [Math.floor((minutes % 1440) / 60), 'h'],
    [minutes % 60, 'min'],
    [carry || Number(rest) === 0 ? 0 : rest, 's']
  ];
  const words = parts.filter(([n]) => n !== 0).map(([n, name]) => `${n} ${name}`);
  return words.join(' ') + before;
}
