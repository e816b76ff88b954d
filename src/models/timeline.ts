/** Rows and gestures of a timeline: names of workers, how many rows fit, wheel and drag. */

import { modelsOf, type IBokehLibrary, type IModelClass, type Untyped } from './bokeh';

const model = modelsOf('dask_diag_lab.views.scripted');

/** Threads are numbered, and each worker is named, where rows are this high. */
const LABEL_PX = 14;
const LEAST_LABELLED_PX = 240;
/** A lower plot has no label that says which moment is 0. */
const LEAST_TOLD_PX = 260;
/** Names take at most this share of the picture's width. */
const LABEL_SHARE = 0.22;
/** Adjacent rows of one worker. */
interface IWorkerRows {
  readonly label: string;
  readonly first: number;
  readonly count: number;
  readonly isGone: boolean;
}

export function columnOf(source: Untyped, name: string): Untyped {
  const { data } = source;
  return data instanceof Map ? data.get(name) : data[name];
}

export function workersOf(source: Untyped): readonly IWorkerRows[] {
  const [first, count, isGone] = ['first', 'count', 'is_gone'].map(name => columnOf(source, name));
  return Array.from(columnOf(source, 'label') as Iterable<string>, (label, k) => ({
    label,
    first: first[k],
    count: count[k],
    isGone: isGone[k] !== 0
  }));
}

function lastRow(worker: IWorkerRows | undefined): number {
  return worker === undefined ? Infinity : worker.first + worker.count - 1;
}

/** The name at a tick among the rows of a worker, and what follows it in any case. */
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

let pen: CanvasRenderingContext2D | null = null;

/** A text that is at most `width` wide with its end; the middle gives way to an ellipsis. */
function fitted(text: string, width: number, font: string, end: string): string {
  pen ??= document.createElement('canvas').getContext('2d');
  if (pen === null) {
    return text + end;
  }
  pen.font = font;
  const fits = (part: string): boolean => (pen?.measureText(part + end).width ?? 0) <= width;
  let shown = fits(text) ? text : text.replace(/^(✕ )?worker /, '$1');
  const rest = shown;
  for (let n = rest.length - 1; n > 0 && !fits(shown); n--) {
    const tail = Math.floor(n / 3);
    shown = `${rest.slice(0, n - tail)}…${tail ? rest.slice(-tail) : ''}`;
  }
  return shown + end;
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
      const height = frame.bbox.height > 0 ? frame.bbox.height : bbox.height;
      const rowPx = height / Math.max(Math.abs(range.end - range.start), 1e-9);
      const labelPx = bbox.width < LEAST_LABELLED_PX ? 0 : bbox.width * LABEL_SHARE;
      const { model } = axis;
      const font = `${model.major_label_text_font_size} ${model.major_label_text_font}`;
      const workers = workersOf(this.workers);
      let free = -Infinity;
      let k = 0;
      return ticks.map(tick => {
        while (k + 1 < workers.length && tick > lastRow(workers[k])) {
          k++;
        }
        const worker = workers[k];
        const [wanted, end] = worker === undefined ? ['', ''] : labelOf(worker, tick, rowPx);
        if (!wanted || !labelPx || tick * rowPx < free) {
          return '';
        }
        free = tick * rowPx + LABEL_PX - 1e-6;
        return fitted(wanted, labelPx, font, end);
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
      this.connect(this.model.properties.zero_label.change, () => this._label());
      this._label();
    }

    /** Say which moment is 0, but in a low plot, where the data needs the height. */
    _label(): void {
      const { time_axis: axis, zero_label: label } = this.model;
      const hasRoom = this.plot_view.bbox.height >= LEAST_TOLD_PX;
      axis.setv({ axis_label: hasRoom && label ? label : null }, { sync: false });
    }

    /** Keep the first row in sight where it is, and as many below it as fit. */
    _fit(): void {
      this._label();
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
        this.plot_view.notify_about('use ctrl + scroll to zoom');
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
  class RowsWheelTool extends WheelZoomTool {}

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
  class StretchTool extends PanTool {}

  return [
    model('RowTicker', RowTicker, undefined, ({ AnyRef }: Untyped) => ({ workers: [AnyRef()] })),
    model('RowTickFormatter', RowTickFormatter, undefined, ({ AnyRef }: Untyped) => ({
      workers: [AnyRef()]
    })),
    model('RowsWheelTool', RowsWheelTool, RowsWheelToolView, ({ AnyRef, Float, Str }: Untyped) => ({
      rows: [AnyRef()],
      min_row_px: [Float, 4],
      time_axis: [AnyRef()],
      zero_label: [Str, '']
    })),
    model('StretchTool', StretchTool, StretchToolView, ({ AnyRef }: Untyped) => ({
      times: [AnyRef()],
      overlay: [AnyRef()]
    }))
  ];
}
