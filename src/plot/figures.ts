/** What of Bokeh's own surface a page of ours does without: hints, focus stops, stale tooltips. */

import type { IBokehFigureView, IBokehView } from './bokeh';

/**
 * Fit a picture's figures into a page of ours; call the returned function at their end.
 *
 * They lay no hints about wheels over their data. The plot around them has a name and the keys:
 * another stop of the Tab key has neither. And in another size, or unseen, something else lies under
 * a resting pointer, for which Bokeh would go on showing the old tooltip.
 */
export function fitFigures(figures: readonly IBokehFigureView[]): () => void {
  const outside = { isPrimary: true, clientX: -1, clientY: -1 };
  const sizes = new ResizeObserver(entries =>
    entries.forEach(({ target }) => target.dispatchEvent(new PointerEvent('pointerout', outside)))
  );
  for (const view of figures) {
    view.notify_about = () => undefined;
    view.el.style.setProperty('background-color', 'transparent', 'important'); // Bokeh's is white
    const { events_el: events } = view.canvas_view;
    events.tabIndex = -1;
    sizes.observe(events);
  }
  return () => sizes.disconnect();
}

/** Return the figures among views and in them; a table has none. */
export function figuresIn(
  views: Iterable<IBokehView | null | undefined>
): readonly IBokehFigureView[] {
  return [...views].flatMap(view =>
    view && isFigure(view) ? [view] : figuresIn(view?.children_views?.() ?? [])
  );
}

/** Whether something among views and in them is drawn; a table is not. */
export function isDrawn(views: Iterable<IBokehView | null | undefined>): boolean {
  return [...views].some(
    view =>
      view && (isFigure(view) || 'paint_now' in view || isDrawn(view.children_views?.() ?? []))
  );
}

function isFigure(view: IBokehView): view is IBokehFigureView {
  return 'notify_about' in view && 'canvas_view' in view;
}
