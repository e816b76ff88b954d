/** What of Bokeh's own surface a page takes over or does without: titles, hints, edges. */

import { DisposableDelegate, type DisposableSet } from '@lumino/disposable';

import type { IBokehFigureView, IBokehModel, IBokehView } from './bokeh';

/** A figure's title. */
export interface IBokehTitle extends IBokehModel {
  readonly text: unknown;
}

type Fields = Readonly<Record<string, unknown>>;

/** How deep figures lie in a document's layouts. */
const MAX_DEPTH = 8;

/** Return the title of a document's only figure; null when there are several or none. */
export function titleOf(roots: readonly object[]): IBokehTitle | null {
  const titles = roots.flatMap(root => titlesIn(root, MAX_DEPTH));
  const [only] = titles;
  return titles.length === 1 && only !== undefined ? only : null;
}

function titlesIn(model: unknown, depth: number): readonly IBokehTitle[] {
  if (typeof model !== 'object' || model === null || depth === 0) {
    return [];
  }
  const { title, children } = model as Fields; // any object has string keys
  if (isTitle(title)) {
    return [title];
  }
  return Array.isArray(children) ? children.flatMap(child => titlesIn(child, depth - 1)) : [];
}

function isTitle(value: unknown): value is IBokehTitle {
  return typeof value === 'object' && value !== null && 'text' in value && 'setv' in value;
}

/**
 * Fit a picture's figures into a page of ours.
 *
 * They lay no hints about wheels over their data, and the elements that hold them have no ground
 * of their own: Bokeh's is white and shines through at the edges of what is drawn. The picture
 * they are in has a name and the keys; another stop of the Tab key without either is none. What is
 * told of the place under the pointer ends with that place.
 *
 * @param watches - ended with the picture; a watch that goes on keeps its figure.
 */
export function adopt(view: IBokehView, watches: DisposableSet): void {
  if (isFigure(view)) {
    view.notify_about = () => undefined;
    view.el.style.setProperty('background-color', 'transparent', 'important');
    view.canvas_view.events_el.tabIndex = -1;
    const { background_fill_color: ground } = view.model.properties;
    ground?.change.connect(() => wipe(view));
    const sizes = new ResizeObserver(() => forgetPointer(view.canvas_view.events_el));
    sizes.observe(view.el);
    watches.add(new DisposableDelegate(() => sizes.disconnect()));
  }
  for (const child of view.children_views?.() ?? []) {
    if (child) {
      adopt(child, watches);
    }
  }
}

function isFigure(view: IBokehView): view is IBokehFigureView {
  return 'notify_about' in view && 'canvas_view' in view;
}

/**
 * End a figure's tooltips: in another size, or unseen, something else lies under the pointer.
 *
 * Bokeh waits for the pointer to leave or move, and a click in a picture may open a pane that takes
 * room from it while the pointer rests.
 */
function forgetPointer(events: HTMLElement): void {
  const outside = { isPrimary: true, clientX: -1, clientY: -1 };
  events.dispatchEvent(new PointerEvent('pointerout', outside));
}

/**
 * Empty a figure's canvases before they are painted in other colours.
 *
 * Bokeh paints from half a pixel on, so that half of the old colours would stay in the first row
 * and column: a light line around a dark picture.
 */
function wipe({ canvas_view: { primary, overlays } }: IBokehFigureView): void {
  for (const { canvas } of [primary, overlays]) {
    const context = canvas instanceof HTMLCanvasElement ? canvas.getContext('2d') : null;
    context?.save();
    context?.resetTransform();
    context?.clearRect(0, 0, context.canvas.width, context.canvas.height);
    context?.restore();
  }
}

/** Return a copy of what is on the screen of an element: all canvases, in shadow roots too. */
export function screenOf(element: HTMLElement): HTMLCanvasElement | null {
  const box = element.getBoundingClientRect();
  const scale = window.devicePixelRatio || 1;
  const copy = document.createElement('canvas');
  copy.width = Math.round(box.width * scale);
  copy.height = Math.round(box.height * scale);
  const context = copy.getContext('2d');
  const canvases = canvasesIn(element).filter(one => one.width > 0 && one.height > 0);
  if (context === null || copy.width === 0 || copy.height === 0 || canvases.length === 0) {
    return null;
  }
  context.scale(scale, scale);
  for (const canvas of canvases) {
    const { left, top, width, height } = canvas.getBoundingClientRect();
    context.drawImage(canvas, left - box.left, top - box.top, width, height);
  }
  return copy;
}

function canvasesIn(root: Element | ShadowRoot): readonly HTMLCanvasElement[] {
  return [...root.querySelectorAll('*')].flatMap(one => {
    const own = one instanceof HTMLCanvasElement ? [one] : [];
    return one.shadowRoot === null ? own : [...own, ...canvasesIn(one.shadowRoot)];
  });
}
