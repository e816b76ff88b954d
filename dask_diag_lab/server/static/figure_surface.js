// What of Bokeh's own surface a page of ours does without. JupyterLab's panes do the same
// (src/api/surface.ts).

// Adopt a picture's figures. The plot around a figure has a name and the keys: another stop of the
// Tab key has neither.
export function adopt(view) {
  if (view.canvas_view !== undefined) {
    view.canvas_view.events_el.tabIndex = -1;
    view.model.properties.background_fill_color?.change.connect(() => wipe(view.canvas_view));
  }
  // BokehJS 3.10 has gaps among them.
  (view.children_views?.() ?? []).filter(Boolean).forEach(adopt);
}

// Empty a figure's canvases before they are painted in other colours: Bokeh paints from half a pixel
// on, and a light line would stay around a dark picture.
function wipe({ primary, overlays }) {
  for (const { canvas } of [primary, overlays]) {
    const context = canvas.getContext?.('2d');
    context?.save();
    context?.resetTransform();
    context?.clearRect(0, 0, canvas.width, canvas.height);
    context?.restore();
  }
}
