/** The picture of a cluster that has ended, from before its workers went. */

import type { IKeptPicture } from '../api/session';

/** A cluster that closes loses its workers this long before its end at most (ms). */
const LEAVING_MS = 60_000;

export class Keepsake {
  /** Return the picture when its workers' going is what ended the plot; the same one from then on. */
  of(kept: IKeptPicture | null): IKeptPicture | null {
    const isLast = kept !== null && (kept === this._kept || Date.now() - kept.at < LEAVING_MS);
    return (this._kept = isLast ? kept : null);
  }

  private _kept: IKeptPicture | null = null;
}
