/** What our charts with a canvas of their own share: painting when due, scrolling, tooltip, export. */

import { h } from '../text';
import { model, type IBokehLibrary, type Untyped } from './bokeh';

/** What a tooltip shows: the first line is bold, empty ones are left out. */
export type TooltipLines = readonly string[];

/** What a chart is painted on, on screen and in a file. */
export type Context = CanvasRenderingContext2D;

const CSS = `
  .scroller { position: absolute; inset: 0; overflow: hidden auto; scrollbar-width: thin; }
  canvas { position: sticky; top: 0; display: block; outline: none; }
  .ddl-tooltip {
    position: fixed; inset: auto; margin: 0; pointer-events: none; box-sizing: border-box;
    max-width: min(420px, calc(100vw - 16px)); padding: 6px 9px; border-radius: 3px;
    overflow-wrap: anywhere; line-height: 1.45; font-variant-numeric: tabular-nums;
    border: 1px solid; box-shadow: 0 1px 4px rgba(0, 0, 0, 0.4);
  }
  .ddl-tooltip > div:empty { display: none; }
  .ddl-tooltip > :first-child { font-weight: 600; color: var(--foreground); }`;

/** Distance of a tooltip from the pointer (px). */
const TOOLTIP_GAP = 12;

/**
 * Return the base class of the models, on top of one version of BokehJS.
 *
 * The view of a subclass paints with `paint(ctx, width, height)`, names with `tooltip_at(x, y)` what
 * lies under the pointer (null for nothing), and may react to `clicked(x, y)`, all in CSS pixels from
 * its upper left corner. What is higher than the picture is scrolled: see `set_hidden_height`.
 */
export function canvasChart(bokeh: IBokehLibrary): Untyped {
  const { LayoutDOM, LayoutDOMView } = bokeh.require('models/layouts/layout_dom');

  class CanvasChartView extends LayoutDOMView {
    _auto_width = 'auto';
    _auto_height = 'auto';

    get child_models(): object[] {
      return [];
    }

    connect_signals(): void {
      super.connect_signals();
      const { change, source } = this.model;
      for (const signal of [change, source.change, source.streaming, source.patching]) {
        this.connect(signal, () => this.schedule_paint());
      }
    }

    render(): void {
      super.render();
      this.shadow_el.append(h('style', {}, CSS));
      this.canvas = h('canvas');
      this.canvas.tabIndex = 0;
      this.canvas.setAttribute('role', 'img');
      this.tip = h('div', { class: 'ddl-tooltip' });
      this.tip.setAttribute('role', 'status');
      // Above all else, and placed in the window: a pane would cut it off, and be what it is placed in.
      this.tip.setAttribute('popover', 'manual');
      this.scroller = h('div', { class: 'scroller' });
      this.below = h('div');
      this.scroller.append(this.canvas, this.below);
      this.shadow_el.append(this.scroller, this.tip);
      this.scroller.addEventListener('scroll', () => this.schedule_paint());
      this.scroller.addEventListener('wheel', () => this.hide_tooltip(), { passive: true });
      this.canvas.addEventListener('pointermove', (event: PointerEvent) => {
        const lines: TooltipLines | null = this.tooltip_at(event.offsetX, event.offsetY);
        if (lines === null) {
          this.hide_tooltip();
        } else {
          this.show_tooltip(lines, event.clientX, event.clientY);
        }
      });
      this.canvas.addEventListener('pointerleave', () => this.hide_tooltip());
      this.canvas.addEventListener('click', (event: MouseEvent) => {
        this.hide_tooltip();
        this.clicked?.(event.offsetX, event.offsetY);
      });
      this.schedule_paint();
    }

    _after_resize(): void {
      super._after_resize();
      this.hide_tooltip();
      this.paint_now(); // at once: a canvas that is stretched first would flicker
    }

    remove(): void {
      cancelAnimationFrame(this._frame ?? 0);
      super.remove();
    }

    /** Paint once before the next frame, however often it is asked for. */
    schedule_paint(): void {
      this._frame ??= requestAnimationFrame(() => this.paint_now());
    }

    paint_now(): void {
      cancelAnimationFrame(this._frame ?? 0);
      this._frame = null;
      const { clientWidth: width, clientHeight: height } = this.scroller ?? {};
      if (!width || !height) {
        return;
      }
      const scale = window.devicePixelRatio || 1;
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
      this.canvas.style.cssText = `width: ${width}px; height: ${height}px`;
      const ctx: Context = this.canvas.getContext('2d');
      ctx.scale(scale, scale);
      this._paint_all(ctx, width, height);
    }

    _paint_all(ctx: Context, width: number, height: number): void {
      ctx.save();
      ctx.fillStyle = this.model.background;
      ctx.fillRect(0, 0, width, height);
      this.paint(ctx, width, height);
      ctx.restore();
    }

    /** The picture as Bokeh's layouts put theirs together, to be saved. */
    export(type: 'auto' | 'png' | 'svg' = 'auto', hidpi = true): Untyped {
      const layer = super.export(type, hidpi);
      layer.ctx.scale(layer.pixel_ratio, layer.pixel_ratio);
      this._paint_all(layer.ctx, this.bbox.width, this.bbox.height);
      return layer;
    }

    /** Say how much there is below the height of the picture, to be scrolled to. */
    set_hidden_height(px: number): void {
      this.below.style.height = `${Math.max(px, 0)}px`;
    }

    /** A column of the source; an empty one where there is none. */
    column(name: string): Untyped {
      return this.model.source.get_column(name) ?? [];
    }

    /** CSS font of the canvas, `smaller` by so many pixels. */
    font(smaller = 0, style = ''): string {
      const size = parseFloat(this.model.font_size) || 12;
      return `${style} ${Math.max(size - smaller, 8)}px ${this.model.font}`.trim();
    }

    hide_tooltip(): void {
      if (this.tip?.isConnected) {
        this.tip.hidePopover();
      }
    }

    /** Show lines beside a place of the window, and inside of it. */
    show_tooltip(lines: TooltipLines, x: number, y: number): void {
      const { background, foreground, muted, font, font_size: size } = this.model;
      this.tip.style.cssText = `background: ${background}; color: ${muted};
        font: ${size} ${font}; --foreground: ${foreground}`;
      // Text and never markup: keys and names are the user's.
      this.tip.replaceChildren(...lines.map(line => h('div', {}, line)));
      this.tip.showPopover();
      const { offsetWidth: width, offsetHeight: height } = this.tip;
      const right = x + TOOLTIP_GAP;
      const left = right + width <= window.innerWidth ? right : x - TOOLTIP_GAP - width;
      const top = Math.min(y + TOOLTIP_GAP, window.innerHeight - height - 4);
      this.tip.style.left = `${Math.max(left, 4)}px`;
      this.tip.style.top = `${Math.max(top, 4)}px`;
    }
  }

  return model('CanvasChart', LayoutDOM, CanvasChartView, ({ AnyRef, Str }: Untyped) => ({
    source: [AnyRef()],
    accent: [Str, '#1976d2'],
    background: [Str, '#ffffff'],
    foreground: [Str, '#212121'],
    muted: [Str, '#616161'],
    grid: [Str, '#e0e0e0'],
    font: [Str, 'sans-serif'],
    font_size: [Str, '12px']
  }));
}

/** Return as much of a text as fits, with an ellipsis where its middle or end gives way; '' for none. */
export function fitText(ctx: Context, text: string, widthPx: number, keepsEnd = false): string {
  if (ctx.measureText(text).width <= widthPx) {
    return text;
  }
  let [least, most] = [0, text.length];
  const cut = (kept: number): string => {
    const tail = keepsEnd ? Math.ceil(kept * 0.6) : 0;
    return `${text.slice(0, kept - tail)}…${tail > 0 ? text.slice(-tail) : ''}`;
  };
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (ctx.measureText(cut(middle)).width <= widthPx) {
      least = middle;
    } else {
      most = middle - 1;
    }
  }
  return least >= 2 ? cut(least) : '';
}

const SLASHES = 'M-1 1L1 -1M0 7L7 0M6 8L8 6';
const BACKSLASHES = 'M-1 6L1 8M0 0L7 7M6 -1L8 1';
/** Lines of a tile of 7 pixels, by the names that Bokeh has for patterns. */
const HATCHES: Readonly<Record<string, string>> = {
  '/': SLASHES,
  '\\': BACKSLASHES,
  x: SLASHES + BACKSLASHES,
  '-': 'M0 3.5H7',
  '|': 'M3.5 0V7',
  '+': 'M0 3.5H7M3.5 0V7',
  '.': 'M2.5 3.5h2M3.5 2.5v2'
};

const patterns = new Map<string, CanvasPattern | null>();

/** Return a pattern to be laid over a colour, so that this is not the only signal. */
export function hatch(ctx: Context, name: string, color: string): CanvasPattern | string {
  // BokehJS draws SVG with the same commands, but not with a canvas' patterns.
  const kept = ctx instanceof CanvasRenderingContext2D ? patterns : new Map<string, null>();
  let pattern = kept.get(name + color);
  if (pattern === undefined) {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 7;
    const lines = tile.getContext('2d')!; // a canvas that has no other context has this one
    lines.strokeStyle = color;
    lines.stroke(new Path2D(HATCHES[name]));
    pattern = ctx.createPattern(tile, 'repeat');
    kept.set(name + color, pattern);
  }
  return pattern ?? 'transparent';
}
