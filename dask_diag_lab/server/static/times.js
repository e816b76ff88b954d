// Times as Lab's panes say them.

// `12 s`, `3 min`, `2 h`.
export function span(seconds) {
  if (seconds < 99.5) {
    return `${Math.round(seconds)} s`;
  }
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

// 14:02:10.
export function clock(time) {
  const parts = [time.getHours(), time.getMinutes(), time.getSeconds()];
  return parts.map(part => String(part).padStart(2, '0')).join(':');
}
