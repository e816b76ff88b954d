/** A bar with more tabs than it can show. */

import { TAB_CLASS } from '../tokens';
import { h } from '../widgets/dom';
import { showTab } from '../widgets/tabsight';

/** Where an element is, from `left` to `right` on the screen. */
function put(element: HTMLElement, left: number, right: number): void {
  const box = { left, right, width: right - left, x: left, top: 0, bottom: 24, height: 24, y: 0 };
  element.getBoundingClientRect = () => ({ ...box, toJSON: () => box }); // jsdom has no DOMRect
}

describe('the bar of many tabs', () => {
  const tab = h('li', { class: TAB_CLASS, 'data-id': 'one' });
  const bar = h('ul', {}, tab);

  beforeEach(() => {
    document.body.replaceChildren(bar);
    put(bar, 100, 300);
    put(tab, 350, 450);
    bar.scrollLeft = 0;
    showTab('one');
  });

  it('scrolls to a tab', () => {
    expect(bar.scrollLeft).toBe(150);
    put(tab, 40, 140);
    showTab('one');
    expect(bar.scrollLeft).toBe(90);
    showTab('gone');
    expect(bar.scrollLeft).toBe(90);
  });

  it('shifts its tabs instead of scrolling them until a dragged one lies still', async () => {
    const shown = (): unknown[] => [
      bar.scrollLeft,
      bar.style.getPropertyValue('--jp-DaskDiag-shift')
    ];
    const point = (type: string): boolean =>
      tab.dispatchEvent(new PointerEvent(type, { bubbles: true }));
    point('pointerdown');
    expect(shown()).toEqual([150, '']);
    point('pointermove');
    expect(shown()).toEqual([0, '150px']);
    document.body.classList.add('lm-mod-dragging'); // it is around the bar here
    point('pointerup');
    expect(shown()).toEqual([0, '150px']);
    document.body.classList.remove('lm-mod-dragging');
    await Promise.resolve();
    expect(shown()).toEqual([150, '']);
    point('pointermove');
    expect(shown()).toEqual([150, '']);
  });

  it('scrolls by a wheel that goes up and down, and leaves sideways to the browser', () => {
    bar.dispatchEvent(new WheelEvent('wheel', { deltaY: 20 }));
    expect(bar.scrollLeft).toBe(170);
    bar.dispatchEvent(new WheelEvent('wheel', { deltaX: 30, deltaY: 5 }));
    expect(bar.scrollLeft).toBe(170);
  });
});
