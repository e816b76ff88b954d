/** The longest that a plot's opening may take. */

import type { IPlotSession } from '../api/session';
import type { ITranslate } from '../api/words';

/** An opening that takes longer is given up and tried again (ms). */
const OPEN_TIMEOUT_MS = 60_000;

/** A session that comes after its time is closed unseen. */
export function inTime(opening: Promise<IPlotSession>, trans: ITranslate): Promise<IPlotSession> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(new Error(trans.__('No answer in time.')));
    }, OPEN_TIMEOUT_MS);
    opening.then(
      session => {
        clearTimeout(timer);
        return isLate ? session.dispose() : resolve(session);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    );
  });
}
