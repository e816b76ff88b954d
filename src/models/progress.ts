/** How far tasks are: names above stacked bars, in as many columns as there is room for. */

import { model, type ModelFactory, type Untyped } from './bokeh';
import { fitText, hatch, type Context, type TooltipLines } from './canvas';
import { count, duration, percent, size } from './units';

/** States that are parts of a bar, from the left, and their labels; what is left of it waits. */
const PARTS = ['released', 'memory', 'erred', 'processing', 'queued', 'no_worker'] as const;
const LABELS: Readonly<Record<string, string>> = {
  released: 'released',
  waiting: 'waiting',
  queued: 'queued',
  no_worker: 'without a worker that may run them',
  processing: 'processing',
  memory: 'in memory',
  erred: 'erred'
};
const RELEASED_ALPHA = 0.6;
/** One task of a million that failed is seen. */
const LEAST_ERRED_PX = 3;

const LEAST_ROW = 26;
const MOST_ROW = 46;
const LEAST_COLUMN = 200;
const WIDEST_COLUMN = 1500;
const MOST_COLUMNS = 4;
const COLUMN_GAP = 20;
const SIDE = 8;
/** Height of a name, and what is free below its bar. */
const TEXT = 18;
const GAP = 4;
/** Width of a name before what stands at the other end of its bar gets shorter. */
const NAME_PX = 60;
const BETWEEN_PX = 10;

interface IGrid {
  readonly columns: number;
  readonly rows: number;
  readonly rowPx: number;
}

/** Choose where `n` cells go: below each other, then side by side, then scrolled. */
export function gridOf(n: number, width: number, height: number): IGrid {
  const fits = Math.max(Math.floor(height / LEAST_ROW), 1);
  const most = Math.min(Math.max(Math.floor(width / LEAST_COLUMN), 1), MOST_COLUMNS);
  const least = Math.min(Math.ceil(width / WIDEST_COLUMN), n);
  const columns = Math.min(Math.max(Math.ceil(n / fits), least, 1), most);
  const rows = Math.max(Math.ceil(n / columns), 1);
  return { columns, rows, rowPx: Math.min(Math.max(height / rows, LEAST_ROW), MOST_ROW) };
}

/** Return how much is done, and how many tasks failed, ever shorter. */
export function doneOfAll(done: number, total: number, erred: number): readonly string[] {
  const share = percent(done / Math.max(total, 1));
  const figures = `${count(done)} / ${count(total)}`;
  if (erred === 0) {
    return [figures, share];
  }
  const failed = `${count(erred)} erred`;
  return [`${failed} · ${figures}`, `${failed} · ${share}`, `⚠ ${share}`];
}

export const progressModels: ModelFactory = (_bokeh, CanvasChart) => {
  class ProgressBarsView extends CanvasChart.prototype.default_view {
    grid: IGrid | null = null;

    paint(ctx: Context, width: number, height: number): void {
      const n: number = this.column('name').length;
      this.grid = gridOf(n, width, height);
      const { columns, rows, rowPx } = this.grid;
      this.set_hidden_height(rows * rowPx - height);
      ctx.translate(0, -this.scroller.scrollTop);
      const wide = (width - 2 * SIDE + COLUMN_GAP) / columns;
      const first = Math.floor(this.scroller.scrollTop / rowPx) * columns;
      const end = Math.min(first + (Math.ceil(height / rowPx) + 1) * columns, n);
      for (let index = first; index < end; index++) {
        ctx.save();
        ctx.translate(SIDE + (index % columns) * wide, Math.floor(index / columns) * rowPx);
        this._paint_cell(ctx, index, wide - COLUMN_GAP);
        ctx.restore();
      }
      this.canvas.setAttribute('aria-label', `${count(n)} ${this.model.nouns}`);
    }

    /** Paint a cell from its upper left corner on. */
    _paint_cell(ctx: Context, index: number, wide: number): void {
      ctx.textBaseline = 'top';
      ctx.font = this.font();
      ctx.fillStyle = this.model.foreground;
      const name: string = this.column('name')[index];
      const wanted = Math.min(ctx.measureText(name).width, NAME_PX) + BETWEEN_PX;
      const [done, total, erred] = ['done', 'total', 'erred'].map(column =>
        this._number(column, index)
      ) as [number, number, number]; // as many as there are names
      const tries = doneOfAll(done, total, erred);
      const value =
        tries.find(text => ctx.measureText(text).width + wanted <= wide) ?? tries.at(-1)!;
      ctx.textAlign = 'right';
      ctx.fillText(value, wide, 3);
      ctx.textAlign = 'left';
      const nameWidth = wide - ctx.measureText(value).width - BETWEEN_PX;
      ctx.fillText(fitText(ctx, name, nameWidth, true), 0, 3);
      const high = this.grid!.rowPx - TEXT - GAP;
      ctx.fillStyle = this.model.track;
      ctx.fillRect(0, TEXT, wide, high);
      this._paint_parts(ctx, index, wide, high);
    }

    _paint_parts(ctx: Context, index: number, wide: number, high: number): void {
      const total = Math.max(this._number('total', index), 1);
      const { erred_color: erred, busy_color: busy, no_worker_color: noWorker } = this.model;
      const own: string = this.column('color')[index];
      const colors = [own, own, erred, busy, busy, noWorker];
      let x = 0;
      PARTS.forEach((part, number) => {
        const share = this._number(part, index) / total;
        if (share === 0) {
          return;
        }
        const width = Math.max(share * wide, part === 'erred' ? LEAST_ERRED_PX : 0);
        const from = Math.min(x, wide - width);
        ctx.globalAlpha = part === 'released' ? RELEASED_ALPHA : 1;
        ctx.fillStyle = colors[number]!;
        ctx.fillRect(from, TEXT, width, high);
        ctx.globalAlpha = 1;
        if (part === 'queued' || part === 'no_worker') {
          ctx.fillStyle = hatch(ctx, '/', this.model.background);
          ctx.fillRect(from, TEXT, width, high);
        } else if (part === 'erred') {
          ctx.strokeStyle = this.model.erred_mark;
          ctx.lineWidth = 1;
          ctx.strokeRect(from + 0.5, TEXT + 0.5, width - 1, high - 1);
        }
        x = from + width;
      });
    }

    _number(column: string, index: number): number {
      return this.column(column)[index] ?? NaN;
    }

    tooltip_at(x: number, y: number): TooltipLines | null {
      const { columns, rowPx } = this.grid!;
      const row = Math.floor((y + this.scroller.scrollTop) / rowPx);
      const index = row * columns + Math.floor((x / this.bbox.width) * columns);
      return index < this.column('name').length ? this._lines(index) : null;
    }

    _lines(index: number): TooltipLines {
      const number = (column: string): number => this._number(column, index);
      const lines = Object.entries(LABELS).map(([state, label]) => {
        const tasks = number(state);
        let line = tasks ? `${count(tasks)} ${label}` : '';
        if (line && state === 'released' && number('forgotten')) {
          line += `, ${count(number('forgotten'))} of them forgotten`;
        }
        if (line && state === 'memory' && number('nbytes') >= 0) {
          line += `: ${size(number('nbytes'), 'B', true)}`;
        }
        return line;
      });
      const [mean, median] = [number('duration'), number('median')];
      const took = Number.isNaN(mean) ? '' : `${duration(mean)} a task on average`;
      const middle = Number.isNaN(median) ? '' : `, median ${duration(median)}`;
      return [this.column('name')[index], ...lines, took + middle];
    }
  }

  return [
    model('ProgressBars', CanvasChart, ProgressBarsView, ({ Str }: Untyped) => ({
      nouns: [Str, ''],
      erred_color: [Str, '#000000'],
      erred_mark: [Str, '#ffffff'],
      busy_color: [Str, '#bdbdbd'],
      no_worker_color: [Str, '#e57373'],
      track: [Str, '#eeeeee']
    }))
  ];
};
