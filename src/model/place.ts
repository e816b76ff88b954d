/** Where a further pane goes, so that titles of tabs stay readable and pictures large enough; pure. */

import type { ILayoutStep } from './layout';

/** A place of the dock with a pane in front; sizes in px. */
export interface ISpot {
  /** The pane in front. */
  readonly id: string;
  readonly tabs: number;
  readonly barWidth: number;
  readonly width: number;
  readonly height: number;
  /** The pane that was used last is here. */
  readonly isLast: boolean;
}

export interface IPlace {
  readonly mode: ILayoutStep['mode'];
  readonly ref: string;
}

/** Lab shrinks tabs down to their icons; from this width on a title is mostly there. */
const TAB_PX = 100;

/** A place that is smaller than this is not split any further: plots work from half of it on. */
const SPLIT_PX = { width: 600, height: 400 };

/**
 * Return where to put one more pane, or null where there is none yet.
 *
 * Behind the pane used last as long as titles stay readable there; else where there is most room
 * for a tab; else in a place of its own, split off from the largest. Where all is full, the tabs
 * spread evenly.
 */
export function nextPlace(spots: readonly ISpot[]): IPlace | null {
  const behind = ({ id }: ISpot): IPlace => ({ mode: 'tab-after', ref: id });
  const roomiest = most(spots, roomOf);
  if (roomiest === undefined) {
    return null;
  }
  const last = spots.find(spot => spot.isLast);
  if (last !== undefined && roomOf(last) >= TAB_PX) {
    return behind(last);
  }
  if (roomOf(roomiest) >= TAB_PX) {
    return behind(roomiest);
  }
  const largest = most(
    spots.filter(({ width, height }) => width >= SPLIT_PX.width || height >= SPLIT_PX.height),
    ({ width, height }) => width * height
  );
  if (largest === undefined) {
    return behind(roomiest);
  }
  const { width, height } = largest;
  const isTall = height >= SPLIT_PX.height && height * 1.5 >= width;
  const isBelow = isTall || width < SPLIT_PX.width;
  return { mode: isBelow ? 'split-bottom' : 'split-right', ref: largest.id };
}

/** How wide each tab of a place is once there is one more (px). */
function roomOf({ barWidth, tabs }: ISpot): number {
  return barWidth / (tabs + 1);
}

function most(spots: readonly ISpot[], size: (spot: ISpot) => number): ISpot | undefined {
  return spots.reduce<ISpot | undefined>(
    (best, spot) => (best === undefined || size(spot) > size(best) ? spot : best),
    undefined
  );
}
