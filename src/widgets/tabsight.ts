/** Keeps the tab of a pane in sight where a bar has more tabs than it can show. */

import { TAB_CLASS } from '../tokens';
import { pinWhilePressed } from './tabpin';

function onPressed({ currentTarget }: PointerEvent): void {
  if (currentTarget instanceof HTMLElement) {
    pinWhilePressed(currentTarget);
  }
}

/** Scroll the bar to the tab of a widget; from then on the wheel scrolls it, and a drag is right. */
export function showTab(id: string): void {
  const tabs = [...document.querySelectorAll<HTMLElement>(`.${TAB_CLASS}`)];
  const tab = tabs.find(one => one.dataset['id'] === id);
  const bar = tab?.parentElement;
  if (tab === undefined || bar === null || bar === undefined) {
    return;
  }
  const { left, right } = tab.getBoundingClientRect();
  const box = bar.getBoundingClientRect();
  bar.scrollLeft += Math.min(0, left - box.left) + Math.max(0, right - box.right);
  bar.onwheel = ({ deltaX, deltaY }) => {
    bar.scrollLeft += deltaX === 0 ? deltaY : 0; // sideways the browser scrolls by itself
  };
  bar.addEventListener('pointerdown', onPressed); // the same one is added once
}
