/** What is in front of the tabs among which a widget of the dock lies. */

import { DockPanel, type TabBar, type Widget } from '@lumino/widgets';

/** Return the widget in sight at the place of one: itself, or the tab before it; null for none. */
export function inFrontOf(widget: Widget): Widget | null {
  if (widget.isVisible) {
    return widget;
  }
  const front = barOf(widget)?.currentTitle?.owner;
  return front?.isVisible === true ? front : null;
}

/** Return the first widget of each place, in their order. */
export function firstInPlaces<T extends Widget>(widgets: readonly T[]): readonly T[] {
  const places = new Set<unknown>();
  return widgets.filter(widget => {
    const before = places.size;
    return places.add(barOf(widget) ?? widget).size > before;
  });
}

function barOf(widget: Widget): TabBar<Widget> | undefined {
  const bars = widget.parent instanceof DockPanel ? [...widget.parent.tabBars()] : [];
  return bars.find(bar => bar.titles.includes(widget.title));
}
