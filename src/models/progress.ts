/** How far tasks are: names above stacked bars, in as many columns as there is room for. */

import { modelsOf, type IBokehLibrary, type IModelClass, type Untyped } from './bokeh';
import { canvasChartView, fitText, hatch, type TooltipLines } from './canvas';
import { count, duration, percent, size } from './format';

const model = modelsOf('dask_diag_lab.views.models');

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

/** Sizes of cells (px); compact ones where fewer than so many bars would be seen. */
const USUAL = { row: 30, column: 240, text: 18, gap: 9 };
const COMPACT = { row: 21, column: 140, text: 15, gap: 3 };
const WANTED = 24;
const MOST_ROW = 46;
const WIDEST_COLUMN = 1500;
const MOST_COLUMNS = 4;
const COLUMN_GAP = 20;
const SIDE = 8;
const NOTE = 16;
/** Room of a name before what stands at the other end of its bar gets shorter. */
const NAME_PX = 60;
const BETWEEN_PX = 10;

export interface IGrid {
  readonly sizes: typeof USUAL;
  readonly columns: number;
  /** Rows that are seen, and all there are. */
  readonly seen: number;
  readonly rows: number;
  readonly rowPx: number;
}

/** Choose where `n` cells go: below each other, then side by side, then scrolled. */
export function gridOf(n: number, width: number, height: number): IGrid {
  const room = (sizes: typeof USUAL): [number, number] => [
    Math.min(Math.max(Math.floor(width / sizes.column), 1), MOST_COLUMNS),
    Math.max(Math.floor(height / sizes.row), 1)
  ];
  const [columns, rows] = room(USUAL);
  const sizes = columns * rows < Math.min(n, WANTED) ? COMPACT : USUAL;
  const [mostColumns, mostRows] = room(sizes);
  const least = Math.min(Math.ceil(width / WIDEST_COLUMN), n);
  const chosen = Math.min(Math.max(Math.ceil(n / mostRows), least, 1), mostColumns);
  const all = Math.max(Math.ceil(n / chosen), 1);
  const seen = Math.min(all, mostRows);
  return { sizes, columns: chosen, seen, rows: all, rowPx: Math.min(height / seen, MOST_ROW) };
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

export function progressModels(bokeh: IBokehLibrary): readonly IModelClass[] {
  const { LayoutDOM } = bokeh.require('models/layouts/layout_dom');

  class ProgressBarsView extends canvasChartView(bokeh) {
    first = 0;
    grid: IGrid | null = null;

    connect_signals(): void {
      super.connect_signals();
      this.on_change(this.model.properties.home, () => this._scroll_to(0));
    }

    render(): void {
      super.render();
      this.canvas.tabIndex = 0;
      this.canvas.setAttribute('role', 'img');
      this.canvas.style.outline = 'none';
      this.canvas.addEventListener('wheel', (event: WheelEvent) => {
        if (this._is_scrolled && !event.ctrlKey) {
          event.preventDefault();
          this._scroll_to(this.first + Math.sign(event.deltaY));
        }
      });
      this.canvas.addEventListener('keydown', (event: KeyboardEvent) => this._on_key(event));
    }

    get n(): number {
      return this.column('name').length;
    }

    get _is_scrolled(): boolean {
      return this.grid !== null && this.grid.rows > this.grid.seen;
    }

    _on_key(event: KeyboardEvent): void {
      const page = this.grid?.seen ?? 1;
      const steps: Readonly<Record<string, number>> = {
        ArrowDown: 1,
        ArrowUp: -1,
        PageDown: page,
        PageUp: -page,
        Home: -Infinity,
        End: Infinity
      };
      const step = steps[event.key];
      if (step !== undefined && this._is_scrolled) {
        event.preventDefault();
        this._scroll_to(this.first + step);
      }
    }

    _scroll_to(row: number): void {
      this.first = Math.max(row, 0); // not below the last one: see `paint`
      this.schedule_paint();
    }

    paint(ctx: CanvasRenderingContext2D, width: number, height: number): void {
      const { n } = this;
      ctx.fillStyle = this.model.background;
      ctx.fillRect(0, 0, width, height);
      this.grid = null;
      if (n === 0) {
        return;
      }
      const all = gridOf(n, width, height);
      this.grid = all.rows > all.seen ? gridOf(n, width, height - NOTE) : all;
      const { columns, seen, rows, rowPx } = this.grid;
      this.first = Math.min(this.first, rows - seen);
      ctx.textBaseline = 'top';
      for (let at = 0; at < columns * seen; at++) {
        const index = this._index(at % columns, Math.floor(at / columns));
        if (index < n) {
          const left = SIDE + (at % columns) * this._column_px(width);
          this._paint_cell(ctx, index, left, Math.floor(at / columns) * rowPx, width);
        }
      }
      const note = this._note();
      ctx.font = this.font(1);
      ctx.fillStyle = this.model.muted;
      ctx.textAlign = 'left';
      ctx.fillText(fitText(ctx, note, width - 2 * SIDE), SIDE, height - NOTE + 2);
      this.canvas?.setAttribute('aria-label', note || `${count(n)} ${this.model.nouns}`);
    }

    _column_px(width: number): number {
      return (width - 2 * SIDE + COLUMN_GAP) / this.grid!.columns;
    }

    /** The row of the source in a cell: all that fit go down, those that are scrolled across. */
    _index(column: number, row: number): number {
      const { columns, seen } = this.grid!;
      return this._is_scrolled ? (this.first + row) * columns + column : column * seen + row;
    }

    _note(): string {
      if (!this._is_scrolled) {
        return '';
      }
      const begin = this.first * this.grid!.columns;
      const end = Math.min(begin + this.grid!.seen * this.grid!.columns, this.n);
      const total: ArrayLike<number> = this.column('total');
      const sum = (from: number, to: number): number =>
        Array.from(total)
          .slice(from, to)
          .reduce((a, b) => a + b, 0);
      const share = percent(sum(begin, end) / Math.max(sum(0, this.n), 1));
      const which = `${this.model.nouns} ${count(begin + 1)}–${count(end)} of ${count(this.n)}`;
      return `${which}, with ${share} of all tasks; scroll for the others`;
    }

    _paint_cell(
      ctx: CanvasRenderingContext2D,
      index: number,
      left: number,
      top: number,
      width: number
    ): void {
      const { sizes, rowPx } = this.grid!;
      const wide = this._column_px(width) - COLUMN_GAP;
      const [at, high] = [top + sizes.text, rowPx - sizes.text - sizes.gap];
      ctx.font = this.font();
      ctx.fillStyle = this.model.foreground;
      const name: string = this.column('name')[index];
      const wanted = Math.min(ctx.measureText(name).width, NAME_PX) + BETWEEN_PX;
      const tries = doneOfAll(
        this._number('done', index),
        this._number('total', index),
        this._number('erred', index)
      );
      const value =
        tries.find(text => ctx.measureText(text).width + wanted <= wide) ?? tries.at(-1) ?? '';
      ctx.textAlign = 'right';
      ctx.fillText(value, left + wide, top + 3);
      ctx.textAlign = 'left';
      const room = wide - ctx.measureText(value).width - BETWEEN_PX;
      ctx.fillText(fitText(ctx, name, room, true), left, top + 3);
      ctx.fillStyle = this.model.track;
      ctx.fillRect(left, at, wide, high);
      this._paint_parts(ctx, index, left, at, wide, high);
    }

    _paint_parts(
      ctx: CanvasRenderingContext2D,
      index: number,
      left: number,
      top: number,
      wide: number,
      high: number
    ): void {
      const total = Math.max(this._number('total', index), 1);
      const { erred_color: erred, busy_color: busy, no_worker_color: noWorker } = this.model;
      const own: string = this.column('color')[index];
      const colors = [own, own, erred, busy, busy, noWorker];
      let x = left;
      PARTS.forEach((part, number) => {
        const share = this._number(part, index) / total;
        if (share === 0) {
          return;
        }
        const least = part === 'erred' ? LEAST_ERRED_PX : 0;
        const width = Math.max(share * wide, least);
        const from = Math.min(x, left + wide - width);
        ctx.globalAlpha = part === 'released' ? RELEASED_ALPHA : 1;
        ctx.fillStyle = colors[number]!;
        ctx.fillRect(from, top, width, high);
        ctx.globalAlpha = 1;
        if (part === 'queued' || part === 'no_worker') {
          hatch(ctx, '/', this.model.background, from, top, width, high);
        } else if (part === 'erred') {
          ctx.strokeStyle = this.model.erred_mark;
          ctx.lineWidth = 1;
          ctx.strokeRect(from + 0.5, top + 0.5, width - 1, high - 1);
        }
        x = from + width;
      });
    }

    _number(column: string, index: number): number {
      return this.column(column)[index] ?? NaN;
    }

    tooltip_at(x: number, y: number): TooltipLines | null {
      const { grid, n } = this;
      if (grid === null || y >= grid.seen * grid.rowPx) {
        return null;
      }
      const column = Math.floor((x - SIDE) / this._column_px(this.bbox.width));
      const index = this._index(
        Math.min(Math.max(column, 0), grid.columns - 1),
        Math.floor(y / grid.rowPx)
      );
      return index < n ? this._lines(index) : null;
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
  class ProgressBars extends LayoutDOM {}

  return [
    model('ProgressBars', ProgressBars, ProgressBarsView, ({ AnyRef, Int, Str }: Untyped) => ({
      source: [AnyRef()],
      nouns: [Str, ''],
      home: [Int, 0],
      erred_color: [Str, '#000000'],
      erred_mark: [Str, '#ffffff'],
      busy_color: [Str, '#bdbdbd'],
      no_worker_color: [Str, '#e57373'],
      track: [Str, '#eeeeee'],
      background: [Str, '#ffffff'],
      foreground: [Str, '#212121'],
      muted: [Str, '#616161'],
      font: [Str, 'sans-serif'],
      font_size: [Str, '12px']
    }))
  ];
}
