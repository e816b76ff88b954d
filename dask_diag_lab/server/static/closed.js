// What is said of a cluster that closed, and whose history can still be looked at.

import { clock } from './times.js';

// As Lab's panes do (`src/model/closed.ts`); `at` is a Date, `reason` '' where there is none.
export function closedWords(at, reason) {
  const time = clock(at).slice(0, 5);
  return reason
    ? `Ended at ${time} · ${reason}`
    : `Cluster closed at ${time} · history kept until the kernel stops`;
}
