/** What is in front of the tabs among which a widget of the dock lies. */

import { DockPanel, type Widget } from '@lumino/widgets';

/** Return the widget in sight at the place of one: itself, or the tab before it; null for none. */
export function inFrontOf(widget: Widget): Widget | null {
  if (widget.isVisible) {
    return widget;
  }
  const bars = widget.parent instanceof DockPanel ? [...widget.parent.tabBars()] : [];
  const front = bars.find(bar => bar.titles.includes(widget.title))?.currentTitle?.owner;
  return front?.isVisible === true ? front : null;
}
