/** A flame graph: frames below their callers, as wide as their share of the samples. */

import { modelsOf, type IBokehLibrary, type IModelClass, type Untyped } from './bokeh';
import { canvasChartView, fitText, type TooltipLines } from './canvas';
import { duration, percent } from './format';

const model = modelsOf('dask_diag_lab.views.scripted');

const ROW_PX = 18;
const CALLER_PX = 15;
/** Callers of the frame that fills the width which have a row; more share one. */
const MAX_CALLERS = 4;
/** Frames narrower than this are put into one box with their like (px). */
const LEAST_PX = 2;
const LEAST_LABEL_PX = 24;

/** A box of the picture. */
interface IBox {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** Its frame; of a merged box the caller. */
  readonly row: number;
  /** How many frames a merged box stands for; 0 of a frame's own. */
  readonly merged: number;
  readonly samples: number;
}

export function flameModels(bokeh: IBokehLibrary): readonly IModelClass[] {
  const { LayoutDOM } = bokeh.require('models/layouts/layout_dom');
  const CanvasChartView = canvasChartView(bokeh);

  class FlameChartView extends CanvasChartView {
    boxes: readonly IBox[] = [];
    scroll_top = 0;

    render(): void {
      super.render();
      this.canvas.addEventListener(
        'wheel',
        (event: WheelEvent) => {
          const before = this.scroll_top;
          this._scroll_to(before + event.deltaY);
          if (this.scroll_top !== before) {
            event.preventDefault();
          }
        },
        { passive: false }
      );
    }

    get focus(): number {
      const { focus, home } = this.model;
      const n = this.column('parent').length;
      return focus >= 0 && focus < n ? focus : home < n ? home : 0;
    }

    paint(ctx: CanvasRenderingContext2D, width: number, height: number): void {
      this.boxes = this.lay_out(width);
      const below = Math.max(0, ...this.boxes.map(box => box.top + box.height));
      this.content_height = below;
      this.scroll_top = Math.min(this.scroll_top, Math.max(below - height, 0));
      ctx.fillStyle = this.model.background;
      ctx.fillRect(0, 0, width, height);
      ctx.translate(0, -this.scroll_top);
      ctx.textBaseline = 'middle';
      for (const box of this.boxes) {
        if (box.top + box.height >= this.scroll_top && box.top <= this.scroll_top + height) {
          this._paint_box(ctx, box);
        }
      }
    }

    /** Return the boxes of the callers of the focus, of the focus, and of all that it called. */
    lay_out(width: number): IBox[] {
      const parent = this.column('parent');
      const total = this.column('total');
      const n: number = parent.length;
      if (n === 0) {
        return [];
      }
      const { focus } = this;
      const whole = total[focus] || 1;
      const boxes = this._caller_boxes(width, focus);
      const top = CALLER_PX * boxes.length;
      // Callers stand before what they called, and siblings by their samples: what is too narrow
      // comes after all that is not.
      const left = new Float64Array(n);
      const next = new Float64Array(n);
      const depth = new Int32Array(n).fill(-1);
      const narrow = new Map<number, { left: number; samples: number; merged: number }>();
      depth[focus] = 0;
      for (let row = focus; row < n; row++) {
        const above = parent[row];
        if (row !== focus) {
          if (depth[above]! < 0 || above === row || total[row] === 0) {
            continue;
          }
          left[row] = next[above]!;
          next[above]! += total[row];
          const wide = (total[row] / whole) * width;
          if (wide < LEAST_PX) {
            const merged = narrow.get(above) ?? { left: left[row]!, samples: 0, merged: 0 };
            merged.samples += total[row];
            merged.merged += 1;
            narrow.set(above, merged);
            continue;
          }
          depth[row] = depth[above]! + 1;
        }
        next[row] = left[row]!;
        boxes.push(this._box(row, left[row]!, total[row], depth[row]!, whole, width, top, 0));
      }
      for (const [above, { left: at, samples, merged }] of narrow) {
        const level = depth[above]! + 1;
        boxes.push(this._box(above, at, samples, level, whole, width, top, merged));
      }
      return boxes;
    }

    _box(
      row: number,
      left: number,
      samples: number,
      level: number,
      whole: number,
      width: number,
      top: number,
      merged: number
    ): IBox {
      return {
        row,
        merged,
        samples,
        left: (left / whole) * width,
        width: (samples / whole) * width,
        top: top + level * ROW_PX,
        height: ROW_PX
      };
    }

    _caller_boxes(width: number, focus: number): IBox[] {
      const parent = this.column('parent');
      const callers: number[] = [];
      for (let row = focus; row !== 0 && parent[row] !== row;) {
        row = parent[row];
        callers.unshift(row);
      }
      const shown =
        callers.length <= MAX_CALLERS ? callers : [callers[0]!, ...callers.slice(1 - MAX_CALLERS)];
      const samples = this.column('total');
      return shown.map((row, index) => ({
        row,
        merged: 0,
        samples: samples[row],
        left: 0,
        width,
        top: index * CALLER_PX,
        height: CALLER_PX
      }));
    }

    _paint_box(ctx: CanvasRenderingContext2D, box: IBox): void {
      const { row, merged, left, top, width, height } = box;
      const { quiet, background, foreground } = this.model;
      const isCaller = height === CALLER_PX;
      const isDim = !isCaller && (merged > 0 ? this._is_searching : !this.column('match')[row]);
      const isOwn = !isCaller && !merged && this.column('is_own')[row] && !isDim;
      const fill = merged || isCaller ? quiet : this.column('color')[row];
      ctx.globalAlpha = isDim ? 0.25 : 1;
      ctx.fillStyle = fill;
      ctx.fillRect(left, top, Math.max(width, 1), height);
      if (!merged && !isCaller && this.column('is_unclear')[row]) {
        this._stripe(ctx, box);
      }
      ctx.globalAlpha = 1;
      ctx.strokeStyle = isOwn ? foreground : background;
      ctx.lineWidth = isOwn ? 1.5 : 1;
      ctx.strokeRect(left, top, Math.max(width, 1), height);
      if (width >= LEAST_LABEL_PX) {
        ctx.font = this.font(isCaller ? 2 : 1, isOwn ? '600' : '');
        ctx.fillStyle = isDim ? foreground : inkOn(fill);
        ctx.fillText(fitText(ctx, this._label(ctx, box), width - 10), left + 5, top + height / 2);
      }
    }

    /** As much of name, place and share as there is room for. */
    _label(ctx: CanvasRenderingContext2D, { row, merged, samples, width, height }: IBox): string {
      if (merged > 0) {
        return `${merged} more`;
      }
      const name: string = this.column('name')[row];
      if (height === CALLER_PX) {
        return `‹ ${name}`;
      }
      let label = name;
      for (const more of [this.column('place')[row], percent(samples / this.model.samples)]) {
        if (more && ctx.measureText(`${label}  ${more}`).width <= width - 10) {
          label = `${label}  ${more}`;
        }
      }
      return label;
    }

    _stripe(ctx: CanvasRenderingContext2D, { left, top, width, height }: IBox): void {
      ctx.save();
      ctx.beginPath();
      ctx.rect(left, top, width, height);
      ctx.clip();
      ctx.strokeStyle = this.model.muted;
      ctx.globalAlpha *= 0.35;
      ctx.beginPath();
      for (let x = left - height; x < left + width; x += 8) {
        ctx.moveTo(x, top + height);
        ctx.lineTo(x + height, top);
      }
      ctx.stroke();
      ctx.restore();
    }

    get _is_searching(): boolean {
      return this.column('match').includes(0);
    }

    box_at(x: number, y: number): IBox | undefined {
      const at = y + this.scroll_top;
      return this.boxes.find(
        ({ left, top, width, height }) =>
          x >= left && x < left + width && at >= top && at < top + height
      );
    }

    tooltip_at(x: number, y: number): TooltipLines | null {
      const box = this.box_at(x, y);
      if (box === undefined) {
        return null;
      }
      const { samples, interval_s } = this.model;
      const share = (n: number): string => `${duration(n * interval_s)} · ${percent(n / samples)}`;
      const whole = `${share(box.samples)} · ${box.samples} ${box.samples === 1 ? 'sample' : 'samples'}`;
      const name: string = this.column('name')[box.row];
      if (box.merged > 0) {
        return [`${box.merged} more called by ${name}`, `Too narrow: click ${name} to zoom`, whole];
      }
      if (this.column('is_unclear')[box.row]) {
        const why = 'Dask has counted these samples at their caller. Choose a task to see more.';
        return [`One of: ${name.replace(/^in /, '')}`, why, whole];
      }
      const own: number = this.column('own')[box.row];
      const whose = this.column('is_own')[box.row] ? ' (your code)' : '';
      return [
        name,
        `${this.column('place')[box.row]}${whose}`,
        this.column('line')[box.row],
        whole,
        own > 0 ? `Itself: ${share(own)}` : ''
      ];
    }

    clicked(x: number, y: number): void {
      const box = this.box_at(x, y);
      if (box !== undefined && !this.column('is_unclear')[box.row]) {
        this.scroll_top = 0;
        this.model.focus = box.row;
      }
    }

    _scroll_to(top: number): void {
      const most = Math.max((this.content_height ?? 0) - this.bbox.height, 0);
      this.scroll_top = Math.min(Math.max(top, 0), most);
      this.hide_tooltip();
      this.schedule_paint();
    }
  }
  class FlameChart extends LayoutDOM {}

  return [
    model('FlameChart', FlameChart, FlameChartView, ({ AnyRef, Float, Int, Str }: Untyped) => ({
      source: [AnyRef()],
      samples: [Int, 0],
      interval_s: [Float, 0],
      home: [Int, 0],
      focus: [Int, -1],
      background: [Str, '#ffffff'],
      foreground: [Str, '#212121'],
      muted: [Str, '#616161'],
      quiet: [Str, '#bdbdbd'],
      font: [Str, 'sans-serif'],
      font_size: [Str, '12px']
    }))
  ];
}

/** Black or white, whichever is read better on a colour: both have the same contrast at 0.179. */
function inkOn(color: string): string {
  const channel = (at: number): number => {
    const value = parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const luminance = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
  return luminance > 0.1791 ? '#000000' : '#ffffff';
}
