/** A flame graph: frames below their callers, as wide as their share of the samples. */

import { model, type ModelFactory, type Untyped } from './bokeh';
import { fitText, hatch, type Context, type TooltipLines } from './canvas';
import { count, duration, percent } from './units';

const ROW_PX = 18;
/** Frames narrower than this are left out, with all that they called (px). */
const LEAST_PX = 2;
const LEAST_LABEL_PX = 24;

/** A frame of the picture. */
interface IBox {
  readonly row: number;
  readonly left: number;
  readonly width: number;
  readonly level: number;
  readonly isCaller: boolean;
}

export const flameModels: ModelFactory = (_bokeh, CanvasChart) => {
  class FlameChartView extends CanvasChart.prototype.default_view {
    boxes: readonly IBox[] = [];

    get focus(): number {
      const { focus } = this.model;
      const n = this.column('parent').length;
      return focus >= 0 && focus < n ? focus : 0;
    }

    paint(ctx: Context, width: number, height: number): void {
      this.boxes = this._lay_out(width);
      const levels = Math.max(0, ...this.boxes.map(box => box.level + 1));
      this.set_hidden_height(levels * ROW_PX - height);
      ctx.translate(0, -this.scroller.scrollTop);
      ctx.textBaseline = 'middle';
      this.boxes.forEach(box => this._paint_box(ctx, box));
      this.canvas.setAttribute('aria-label', `${count(this.boxes.length)} frames`);
    }

    /** Return the boxes of the callers of the focus, of the focus, and of all that it called. */
    _lay_out(width: number): IBox[] {
      const [parent, total] = [this.column('parent'), this.column('total')];
      const n: number = parent.length;
      if (n === 0) {
        return [];
      }
      const { focus } = this;
      const callers: number[] = [];
      for (let row = focus; row !== 0 && parent[row] !== row;) {
        row = parent[row];
        callers.unshift(row);
      }
      const boxes = callers.map((row, level) => ({ row, left: 0, width, level, isCaller: true }));
      // Callers stand before what they called, and siblings by their samples.
      const next = new Float64Array(n);
      const level = new Int32Array(n).fill(-1);
      const scale = width / (total[focus] || 1);
      for (let row = focus; row < n; row++) {
        const above = parent[row];
        const isFocus = row === focus;
        const wide = total[row] * scale;
        if (!isFocus && (level[above]! < 0 || above === row || wide < LEAST_PX)) {
          continue;
        }
        const left = isFocus ? 0 : next[above]!;
        next[above]! += isFocus ? 0 : wide;
        next[row] = left;
        level[row] = isFocus ? callers.length : level[above]! + 1;
        boxes.push({ row, left, width: wide, level: level[row]!, isCaller: false });
      }
      return boxes;
    }

    _paint_box(ctx: Context, { row, left, width, level, isCaller }: IBox): void {
      const { faint, background, foreground, muted } = this.model;
      const isDim = !isCaller && !this.column('match')[row];
      const isOwn = !isCaller && !isDim && this.column('is_own')[row];
      const color: string = isCaller ? faint : this.column('color')[row];
      const box = [left, level * ROW_PX, Math.max(width, 1), ROW_PX] as const;
      ctx.globalAlpha = isDim ? 0.25 : 1;
      ctx.fillStyle = color;
      ctx.fillRect(...box);
      if (this.column('is_unclear')[row]) {
        ctx.fillStyle = hatch(ctx, '/', muted);
        ctx.globalAlpha *= 0.35;
        ctx.fillRect(...box);
      }
      ctx.globalAlpha = 1;
      ctx.strokeStyle = isOwn ? foreground : background;
      ctx.lineWidth = isOwn ? 1.5 : 1;
      ctx.strokeRect(...box);
      if (width >= LEAST_LABEL_PX) {
        ctx.font = this.font(1, isOwn ? '600' : '');
        ctx.fillStyle = isDim ? foreground : inkOn(color);
        const label = isCaller
          ? `‹ ${this.column('name')[row]}`
          : this._label(ctx, row, width - 10);
        ctx.fillText(fitText(ctx, label, width - 10), left + 5, (level + 0.5) * ROW_PX);
      }
    }

    /** As much of name, place and share as there is room for. */
    _label(ctx: Context, row: number, width: number): string {
      const share = percent(this.column('total')[row] / this.model.samples);
      let label: string = this.column('name')[row];
      for (const more of [this.column('place')[row], share]) {
        if (more && ctx.measureText(`${label}  ${more}`).width <= width) {
          label = `${label}  ${more}`;
        }
      }
      return label;
    }

    _box_at(x: number, y: number): IBox | undefined {
      const at = Math.floor((y + this.scroller.scrollTop) / ROW_PX);
      return this.boxes.find(
        ({ left, width, level }) => x >= left && x < left + width && level === at
      );
    }

    tooltip_at(x: number, y: number): TooltipLines | null {
      const box = this._box_at(x, y);
      if (box === undefined) {
        return null;
      }
      const of = (column: string): Untyped => this.column(column)[box.row];
      const { samples, interval_s } = this.model;
      const share = (n: number): string => `${duration(n * interval_s)} · ${percent(n / samples)}`;
      const number: number = of('total');
      const whole = `${share(number)} · ${number} ${number === 1 ? 'sample' : 'samples'}`;
      if (of('is_unclear')) {
        const why = 'Dask has counted these samples at their caller. Choose a task to see more.';
        return [`One of: ${of('name').replace(/^in /, '')}`, why, whole];
      }
      return [
        of('name'),
        `${of('place')}${of('is_own') ? ' (your code)' : ''}`,
        of('line'),
        whole,
        of('own') > 0 ? `Itself: ${share(of('own'))}` : ''
      ];
    }

    clicked(x: number, y: number): void {
      const box = this._box_at(x, y);
      if (box !== undefined && !this.column('is_unclear')[box.row]) {
        this.scroller.scrollTop = 0;
        this.model.focus = box.row;
      }
    }
  }

  return [
    model('FlameChart', CanvasChart, FlameChartView, ({ Float, Int, Str }: Untyped) => ({
      samples: [Int, 0],
      interval_s: [Float, 0],
      focus: [Int, -1],
      faint: [Str, '#bdbdbd']
    }))
  ];
};

/** Black or white, whichever is read better on a colour: both have the same contrast at 0.179. */
function inkOn(color: string): string {
  const channel = (at: number): number => {
    const value = parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  const luminance = 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
  return luminance > 0.1791 ? '#000000' : '#ffffff';
}
