/** The places of the dock that hold panes, as they are on the screen at this moment. */

import type { ISpot } from '../model/place';
import type { Pane } from './pane';

const TAB_BAR = '.lm-TabBar';
const TAB = '.lm-TabBar-tab';

/** Return the places of the panes that are in front in theirs. */
export function spotsOf(panes: readonly Pane[], last: Pane | null): readonly ISpot[] {
  const spots = new Map<Element, ISpot>();
  const tabs = [...document.querySelectorAll<HTMLElement>(TAB)];
  for (const pane of panes) {
    const tab = tabs.find(one => one.dataset['id'] === pane.id);
    const bar = tab?.closest(TAB_BAR) ?? null;
    if (bar !== null) {
      const isLast = pane === last || spots.get(bar)?.isLast === true;
      const front = pane.isVisible ? spotOf(pane, bar) : (spots.get(bar) ?? spotOf(pane, bar));
      spots.set(bar, { ...front, isLast });
    }
  }
  return [...spots.values()];
}

function spotOf(pane: Pane, bar: Element): ISpot {
  const { width, height } = pane.node.getBoundingClientRect();
  const tabs = bar.querySelectorAll(TAB).length;
  const barWidth = bar.getBoundingClientRect().width;
  return { id: pane.id, tabs, barWidth, width, height, isLast: false };
}
