/** What is said of a cluster that closed, and whose history can still be looked at. */

import type { ITranslate } from '../api/words';
import { formatClock } from './format';

/** @param timeMs - when it closed, in ms since the epoch. */
export function closedWords(timeMs: number, trans: ITranslate): string {
  const clock = formatClock(timeMs);
  return trans.__('Cluster closed at %1 · history kept until the kernel stops', clock);
}
