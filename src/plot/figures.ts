/** What of Bokeh's own surface a page of ours does without: hints, focus stops, stale tooltips. */

import type { IBokehFigureView, IBokehView } from './bokeh';

/**
 * Fit a picture's figures into a page of ours; call the returned function at their end.
 *
 * They lay no hints about wheels over their data. The plot around them has a name and the keys:
 * another stop of the Tab key has neither. And in another size, or unseen, something else lies under
 * a resting pointer, for which Bokeh would go on showing the old tooltip.
 */
export function fitFigures(views: Iterable<IBokehView | null | undefined>): () => void {
  const outside = { isPrimary: true, clientX: -1, clientY: -1 };
  const sizes = new ResizeObserver(entries =>
    entries.forEach(({ target }) => target.dispatchEvent(new PointerEvent('pointerout', outside)))
  );
  const fit = (view: IBokehView | null | undefined): void => {
    if (view && isFigure(view)) {
      view.notify_about = () => undefined;
      view.el.style.setProperty('background-color', 'transparent', 'important'); // Bokeh's is white
      const { events_el: events } = view.canvas_view;
      events.tabIndex = -1;
      sizes.observe(events);
    }
    [...(view?.children_views?.() ?? [])].forEach(fit);
  };
  [...views].forEach(fit);
  return () => sizes.disconnect();
}

function isFigure(view: IBokehView): view is IBokehFigureView {
  return 'notify_about' in view && 'canvas_view' in view;
}
