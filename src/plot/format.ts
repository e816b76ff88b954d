/** Times and counts as people read them. */

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

/** Clock time to the second, of milliseconds since the epoch: `14:02:10`. */
export function formatTime(timeMs: number): string {
  const time = new Date(timeMs);
  const parts = [time.getHours(), time.getMinutes(), time.getSeconds()];
  return parts.map(part => String(part).padStart(2, '0')).join(':');
}

/** Clock time, hours and minutes, of milliseconds since the epoch: `14:02`. */
export function formatClock(timeMs: number): string {
  return formatTime(timeMs).slice(0, 5);
}
