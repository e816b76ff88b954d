/** What our charts with a canvas of their own share: painting when due, size, tooltip, export. */

import type { IBokehLibrary, Untyped } from './bokeh';

/** What a tooltip shows: the first line is bold, empty ones are left out. */
export type TooltipLines = readonly string[];

const TOOLTIP_CSS = `
  position: fixed; z-index: 1000; pointer-events: none; box-sizing: border-box;
  max-width: min(420px, calc(100vw - 16px)); padding: 6px 9px; border-radius: 3px;
  overflow-wrap: anywhere; line-height: 1.45; font-variant-numeric: tabular-nums;
  box-shadow: 0 1px 4px rgba(0, 0, 0, 0.4);`;

/** Distance of a tooltip from the pointer (px). */
const TOOLTIP_GAP = 12;

/**
 * Return the base class of the views, on top of one version of BokehJS.
 *
 * A subclass paints with `paint(ctx, width, height)`, names with `tooltip_at(x, y)` what lies under
 * the pointer (null for nothing), and may react to `clicked(x, y)`, all in CSS pixels from its
 * upper left corner. Its model has `background`, `foreground`, `muted`, `font` and `font_size`.
 */
export function canvasChartView(bokeh: IBokehLibrary): Untyped {
  const { LayoutDOMView } = bokeh.require('models/layouts/layout_dom');

  return class CanvasChartView extends LayoutDOMView {
    _auto_width = 'auto';
    _auto_height = 'auto';

    get child_models(): object[] {
      return [];
    }

    connect_signals(): void {
      super.connect_signals();
      const repaint = (): void => this.schedule_paint();
      this.connect(this.model.change, repaint);
      this.connect(this.model.source.change, repaint);
      this.connect(this.model.source.streaming, repaint);
      this.connect(this.model.source.patching, repaint);
    }

    render(): void {
      super.render();
      this.canvas = document.createElement('canvas');
      this.canvas.style.cssText = 'position: absolute; inset: 0; width: 100%; height: 100%';
      this.tip = document.createElement('div');
      this.tip.className = 'ddl-tooltip';
      this.tip.hidden = true;
      this.shadow_el.append(this.canvas, this.tip);
      this.canvas.addEventListener('pointermove', (event: PointerEvent) => this._hover(event));
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
      const { width, height } = this.bbox;
      if (this.canvas === undefined || width === 0 || height === 0) {
        return;
      }
      const scale = window.devicePixelRatio || 1;
      this.canvas.width = Math.round(width * scale);
      this.canvas.height = Math.round(height * scale);
      this._paint_on(this.canvas.getContext('2d'), scale);
    }

    /** The picture as Bokeh's layouts put theirs together, to be saved. */
    export(type: 'auto' | 'png' | 'svg' = 'auto', hidpi = true): Untyped {
      const layer = super.export(type, hidpi);
      const { width, height } = this.bbox;
      layer.ctx.save();
      layer.ctx.fillStyle = this.model.background;
      layer.ctx.fillRect(0, 0, width, height);
      this.paint(layer.ctx, width, height);
      layer.ctx.restore();
      return layer;
    }

    /** A column of the source; an empty one where there is none. */
    column(name: string): Untyped {
      return this.model.source.get_column(name) ?? [];
    }

    hide_tooltip(): void {
      if (this.tip !== undefined) {
        this.tip.hidden = true;
      }
    }

    /** CSS font of the canvas, `smaller` by so many pixels. */
    font(smaller = 0, style = ''): string {
      const size = parseFloat(this.model.font_size) || 12;
      return `${style} ${Math.max(size - smaller, 8)}px ${this.model.font}`.trim();
    }

    _paint_on(ctx: CanvasRenderingContext2D, scale: number): void {
      const { width, height } = this.bbox;
      ctx.save();
      ctx.scale(scale, scale);
      this.paint(ctx, width, height);
      ctx.restore();
    }

    _hover(event: PointerEvent): void {
      const lines: TooltipLines | null = this.tooltip_at(event.offsetX, event.offsetY);
      if (lines === null) {
        this.hide_tooltip();
      } else {
        this.show_tooltip(lines, event.clientX, event.clientY);
      }
    }

    /** Show lines beside a place of the window. */
    show_tooltip(lines: TooltipLines, x: number, y: number): void {
      const { background, foreground, muted, font, font_size: size } = this.model;
      this.tip.style.cssText = `${TOOLTIP_CSS} background: ${background}; color: ${muted};
        font-family: ${font}; font-size: ${size}; border: 1px solid ${muted}`;
      this.tip.replaceChildren(
        ...lines.filter(Boolean).map((line, index) => {
          const row = document.createElement('div');
          row.textContent = line; // never markup: keys and names are the user's
          if (index === 0) {
            row.style.cssText = `font-weight: 600; color: ${foreground}`;
          }
          return row;
        })
      );
      this.tip.hidden = false;
      this._place_tip(x, y);
    }

    /** Beside the pointer where there is room, and inside the window. */
    _place_tip(x: number, y: number): void {
      const { offsetWidth: width, offsetHeight: height } = this.tip;
      const right = x + TOOLTIP_GAP;
      const left = right + width <= window.innerWidth ? right : x - TOOLTIP_GAP - width;
      const top = Math.min(y + TOOLTIP_GAP, window.innerHeight - height - 4);
      this.tip.style.left = `${Math.max(left, 4)}px`;
      this.tip.style.top = `${Math.max(top, 4)}px`;
    }
  };
}

/** Return as much of a text as fits, with an ellipsis where its middle or end gives way; '' for none. */
export function fitText(
  ctx: CanvasRenderingContext2D,
  text: string,
  room: number,
  keepsEnd = false
): string {
  if (ctx.measureText(text).width <= room) {
    return text;
  }
  let [least, most] = [0, text.length];
  const cut = (kept: number): string => {
    const tail = keepsEnd ? Math.ceil(kept * 0.6) : 0;
    return `${text.slice(0, kept - tail)}…${tail > 0 ? text.slice(-tail) : ''}`;
  };
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (ctx.measureText(cut(middle)).width <= room) {
      least = middle;
    } else {
      most = middle - 1;
    }
  }
  return least >= 2 ? cut(least) : '';
}

/** Draw a pattern over a bar, so that its colour is not the only signal. */
export function hatch(
  ctx: CanvasRenderingContext2D,
  pattern: string,
  color: string,
  left: number,
  top: number,
  width: number,
  height: number
): void {
  const step = 6;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  ctx.beginPath();
  ctx.strokeStyle = ctx.fillStyle = color;
  ctx.lineWidth = 1;
  ctx.globalAlpha *= 0.7;
  if ('/x'.includes(pattern)) {
    for (let x = left - height; x < left + width; x += step) {
      ctx.moveTo(x, top + height);
      ctx.lineTo(x + height, top);
    }
  }
  if ('\\x'.includes(pattern)) {
    for (let x = left - height; x < left + width; x += step) {
      ctx.moveTo(x, top);
      ctx.lineTo(x + height, top + height);
    }
  }
  if ('-+'.includes(pattern)) {
    for (let y = top + step / 2; y < top + height; y += step) {
      ctx.moveTo(left, y);
      ctx.lineTo(left + width, y);
    }
  }
  if ('|+'.includes(pattern)) {
    for (let x = left + step / 2; x < left + width; x += step) {
      ctx.moveTo(x, top);
      ctx.lineTo(x, top + height);
    }
  }
  if (pattern === '.') {
    for (let x = left + step / 2; x < left + width; x += step) {
      for (let y = top + step / 2; y < top + height; y += step) {
        ctx.fillRect(x - 1, y - 1, 2, 2);
      }
    }
  }
  ctx.stroke();
  ctx.restore();
}
