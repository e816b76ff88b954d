/** Rows and gestures of a timeline: names of workers, how many rows fit, wheel and drag. */

import { model, type IBokehLibrary, type IModelClass, type Untyped } from './bokeh';
import { fitText } from './canvas';

/** Threads are numbered, and each worker is named, where rows are this high. */
const LABEL_PX = 14;
/** Names take at most this share of the picture's width. */
const LABEL_SHARE = 0.35;
/** Adjacent rows of one worker. */
interface IWorkerRows {
  readonly label: string;
  readonly first: number;
  readonly count: number;
  readonly isGone: boolean;
}

export function workersOf(source: Untyped): readonly IWorkerRows[] {
  const [first, count, isGone] = ['first', 'count', 'is_gone'].map(name => source.get_column(name));
  return Array.from(source.get_column('label') as Iterable<string>, (label, k) => ({
    label,
    first: first[k],
    count: count[k],
    isGone: isGone[k] !== 0
  }));
}

/** The label of a tick: a worker's name, which may be cut, and a thread's number, which may not. */
function labelOf(worker: IWorkerRows, tick: number, rowPx: number): readonly [string, string] {
  const { first, count, isGone } = worker;
  const name = (isGone ? '✕ ' : '') + worker.label;
  if (rowPx < LABEL_PX || count === 1) {
    return [tick === first + (count - 1) / 2 ? name : '', ''];
  }
  return tick === first
    ? [name, ' · 1']
    : [Number.isInteger(tick) ? `${tick - first + 1}` : '', ''];
}

export function timelineModels(bokeh: IBokehLibrary): readonly IModelClass[] {
  const { TickFormatter } = bokeh.require('models/formatters/tick_formatter');
  const { Ticker } = bokeh.require('models/tickers/ticker');
  const { PanTool, PanToolView } = bokeh.require('models/tools/gestures/pan_tool');
  const { WheelZoomTool, WheelZoomToolView } = bokeh.require(
    'models/tools/gestures/wheel_zoom_tool'
  );

  class RowTicker extends Ticker {
    get_ticks(low: number, high: number): { readonly major: number[]; readonly minor: number[] } {
      const [top, bottom] = [Math.min(low, high), Math.max(low, high)];
      const major: number[] = [];
      for (const { first, count } of workersOf(this.workers)) {
        if (first <= bottom && first + count > top) {
          const rows = Array.from({ length: count }, (_, k) => first + k);
          major.push(...new Set([...rows, first + (count - 1) / 2]));
        }
      }
      return { major: major.sort((a, b) => a - b), minor: [] };
    }
  }

  class RowTickFormatter extends TickFormatter {
    doFormat(ticks: readonly number[], axis: Untyped): readonly string[] {
      const { frame, bbox } = axis.plot_view;
      const [range] = axis.ranges;
      const rowPx =
        (frame.bbox.height || bbox.height) / Math.max(Math.abs(range.end - range.start), 1e-9);
      const pen = document.createElement('canvas').getContext('2d')!; // it has no other context
      const { major_label_text_font_size: size, major_label_text_font: font } = axis.model;
      pen.font = `${size} ${font}`;
      const workers = workersOf(this.workers);
      let free = -Infinity;
      return ticks.map(tick => {
        const worker = workers.find(({ first, count }) => tick <= first + count - 1);
        const [name, end] = worker === undefined ? ['', ''] : labelOf(worker, tick, rowPx);
        if (!name || tick * rowPx < free) {
          return '';
        }
        free = tick * rowPx + LABEL_PX - 1e-6;
        const nameWidth = bbox.width * LABEL_SHARE - pen.measureText(end).width;
        return fitText(pen, name, nameWidth, true) + end;
      });
    }
  }

  /** Ctrl-wheel (and a pinch) zooms time; the plain wheel scrolls rows where not all fit. */
  class RowsWheelToolView extends WheelZoomToolView {
    connect_signals(): void {
      super.connect_signals();
      const { rows } = this.model;
      const { inner_height: height } = this.plot_view.model.properties;
      this.connect(rows.properties.bounds.change, () => this._fit());
      this.connect(height.change, () => this._fit());
    }

    /** Keep the first row visible where it is, and as many below it as fit. */
    _fit(): void {
      const { rows, min_row_px: least } = this.model;
      const { height } = this.plot_view.frame.bbox;
      const [first, last] = rows.bounds;
      const shown = Math.min(last - first, Math.max(Math.floor(height / least), 1));
      const top = Math.min(Math.max(rows.end, first), last - shown);
      if (height > 0 && (rows.end !== top || rows.start !== top + shown)) {
        rows.setv({ start: top + shown, end: top });
      }
    }

    _scroll(ev: Untyped): boolean {
      if (ev.modifiers.ctrl || ev.native?.metaKey) {
        this.zoom(ev.sx, ev.sy, ev.delta);
        return true;
      }
      const { rows } = this.model;
      const height = Math.abs(rows.start - rows.end);
      const [least, most] = rows.bounds;
      if (height >= most - least - 1e-9) {
        return false;
      }
      const step = (-ev.delta * height) / Math.max(this.plot_view.frame.bbox.height, 1);
      const top = Math.min(Math.max(rows.end + step, least), most - height);
      if (top !== rows.end) {
        rows.setv({ start: top + height, end: top });
      }
      return true;
    }
  }

  /** A drag pans; with Alt or Ctrl it marks a stretch of time, which is then zoomed to. */
  class StretchToolView extends PanToolView {
    _pan_start(ev: Untyped): void {
      this._from = ev.modifiers.alt || ev.modifiers.ctrl ? ev.sx : null;
      if (this._from === null) {
        super._pan_start(ev);
      }
    }

    _pan(ev: Untyped): void {
      if (this._from === null) {
        super._pan(ev);
        return;
      }
      const [left, right] = this._stretch(ev.sx);
      this.model.overlay.setv({ left, right, visible: true });
    }

    _pan_end(ev: Untyped): void {
      if (this._from === null) {
        super._pan_end(ev);
        return;
      }
      const [start, end] = this._stretch(ev.sx);
      this.model.overlay.setv({ visible: false });
      if (Math.abs(ev.sx - this._from) > 4) {
        this.model.times.setv({ start, end });
      }
      this._from = null;
    }

    _stretch(sx: number): readonly [number, number] {
      const { x_scale, bbox } = this.plot_view.frame;
      const ends: number[] = [this._from, Math.min(Math.max(sx, bbox.left), bbox.right)];
      const [start = 0, end = 0] = ends.map(at => x_scale.invert(at)).sort((a, b) => a - b);
      return [start, end];
    }
  }

  return [
    model('RowTicker', RowTicker, undefined, ({ AnyRef }: Untyped) => ({ workers: [AnyRef()] })),
    model('RowTickFormatter', RowTickFormatter, undefined, ({ AnyRef }: Untyped) => ({
      workers: [AnyRef()]
    })),
    model('RowsWheelTool', WheelZoomTool, RowsWheelToolView, ({ AnyRef, Float }: Untyped) => ({
      rows: [AnyRef()],
      min_row_px: [Float, 4]
    })),
    model('StretchTool', PanTool, StretchToolView, ({ AnyRef }: Untyped) => ({
      times: [AnyRef()],
      overlay: [AnyRef()]
    }))
  ];
}
