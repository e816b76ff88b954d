/** What is said of a cluster that closed, and whose history can still be looked at. */

import type { ITranslate } from '../api/words';
import type { IDashboard } from '../wire';
import { formatClock } from './format';

/**
 * Say since when it is so, and why where more than its end is known. `server/static/closed.js` says
 * the same; both are tested by the cases of `closings.ts`.
 *
 * @param timeMs - when it closed, in ms since the epoch.
 * @param reason - in words of the server's; '' or null for none.
 */
export function closedWords(timeMs: number, reason: string | null, trans: ITranslate): string {
  const clock = formatClock(timeMs);
  return reason
    ? trans.__('Ended at %1 · %2', clock, reason)
    : trans.__('Cluster closed at %1 · history kept until the kernel stops', clock);
}

/**
 * Say why a cluster gives no more data; `lastLiveMs` is when it last did, for one that was seen to
 * go and did not say since when.
 */
export function staleWords(
  dashboard: Pick<IDashboard, 'reason' | 'closed_at'> | undefined,
  lastLiveMs: number,
  trans: ITranslate
): string {
  if (dashboard?.closed_at !== undefined) {
    return closedWords(dashboard.closed_at * 1000, dashboard.reason, trans);
  }
  return dashboard?.reason ?? closedWords(lastLiveMs, null, trans);
}
