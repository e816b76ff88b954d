/** Numbers as people read them: binary units for memory, three digits, short times. */

const BINARY_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** Bytes in binary units with three significant digits: `1.5 GiB`, `734 MiB`, `16 GiB`. */
export function formatBytes(bytes: number): string {
  let value = Math.max(bytes, 0);
  let unit = 0;
  while (value >= 999.5 && unit < BINARY_UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${threeDigits(value)} ${BINARY_UNITS[unit] ?? 'B'}`;
}

/** Three significant digits, without trailing zeros. */
function threeDigits(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** A whole number with thin spaces between thousands: `1 000 000`. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

/** A span of seconds, coarse: `12 s`, `3 min`, `2 h`. */
export function formatSpan(seconds: number): string {
  if (seconds < 99.5) {
    return `${Math.max(0, Math.round(seconds))} s`;
  }
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** Clock time, hours and minutes, of milliseconds since the epoch. */
export function formatClock(timeMs: number): string {
  return formatMoment(timeMs).slice(0, 5);
}

/** Clock time to the second, of milliseconds since the epoch. */
export function formatMoment(timeMs: number): string {
  const time = new Date(timeMs);
  const parts = [time.getHours(), time.getMinutes(), time.getSeconds()];
  return parts.map(part => String(part).padStart(2, '0')).join(':');
}
