/** The task stream: its bars, what it shows of one under the pointer, and its gestures. */

import { model, type IBokehLibrary, type IModelClass, type Untyped } from './bokeh';
import { hatch } from './canvas';
import { workersOf } from './timeline';
import { clock, duration, size } from './units';

/** Codes of colours, as in `views/stream/frame.py`; below them are prefixes. */
const TRANSFER = 216;
const DESERIALIZE = 218;
const ERRED = 219;
const KILLED = 220;
const RETRIED = 221;
/** Hatch and words of what has no result. */
const FAILURES: Readonly<Record<number, readonly [string, string]>> = {
  [ERRED]: ['+', ' · failed'],
  [KILLED]: ['\\', ' · its worker died'],
  [RETRIED]: ['/', ' · attempt failed, run again']
};
/** Height of a task, in rows, and of a little time in a column of pixels, as for merged tasks. */
const FULL_HEIGHT = 0.8;
const LEAST_HEIGHT = 0.15 * FULL_HEIGHT;
/** Of the R2 sequence, which fills a square evenly: powers of the plastic ratio. */
const [ALONG, ACROSS] = [0.7548776662466927, 0.5698402909980532];
/** BokehJS keeps places in 32 bits. */
const ROUNDING_PX = 1e-3;
/** More blocks than this go without outline, which takes most of the time of drawing them. */
const OUTLINED = 2000;
/** Smaller failed tasks have no hatch in their rim. */
const HATCHED_PX = 8;
const POINT_PX = 4;
const HALO_PX = 5;
const KINDS = ['', 'transfer for ', 'disk read for ', 'disk write for ', 'unpack '];

/** A block under the pointer; `at` reads a column of it, or returns what is given. */
interface IBlock {
  readonly name: string;
  readonly count: number;
  readonly left: number;
  readonly right: number;
  readonly busy: number;
  readonly at: (column: string, otherwise: Untyped) => Untyped;
}

/** A column of pixels in a row, as high as blocks cover it, and the one whose colour it has. */
interface IPixelColumn {
  readonly sx: number;
  readonly sy: number;
  height: number;
  block: number;
  /** Of its height, what comes before the place that gives it its colour; less than 0 behind it. */
  before: number;
}

/**
 * Return what is drawn of blocks that are narrower than a pixel.
 *
 * Each a pixel wide, thousands of short tasks would look like threads that never rest. Colours take
 * turns in proportion, by error diffusion without memory as in `store/lod.py`. Columns are counted
 * from where time is zero, hence each keeps its colour while the picture moves.
 *
 * @param blocks - by their colours
 * @param at - `sleft`, `sright` and `sy` of blocks (px), their `y` and `height` (rows)
 * @param zero - where time is zero (px)
 */
export function pixelColumns(
  blocks: readonly (readonly number[])[],
  at: Untyped,
  zero: number
): Iterable<IPixelColumn> {
  const { sleft, sright, sy, y, height } = at;
  const shift = Math.round(zero);
  const columns = new Map<number, IPixelColumn>();
  // Three lists, as one of thousands of objects takes longer than all else.
  const [parts, ids, heights]: [IPixelColumn[], number[], number[]] = [[], [], []];
  const add = (i: number): void => {
    const [left, right] = [sleft[i] - zero, sright[i] - zero];
    let x = Math.floor(left + ROUNDING_PX);
    do {
      const key = y[i] * 65_536 + shift + x;
      let column = columns.get(key);
      if (column === undefined) {
        const place = x * ALONG + y[i] * ACROSS;
        const before = place - Math.floor(place);
        // BokehJS moves its canvas by half a pixel, so that is where pixels begin.
        column = { sx: shift + x - 0.5, sy: sy[i], height: 0, block: i, before };
        columns.set(key, column);
      }
      const part = (Math.min(right, x + 1) - Math.max(left, x)) * height.get(i);
      column.height += part;
      parts.push(column);
      ids.push(i);
      heights.push(part);
    } while (++x < right - ROUNDING_PX);
  };
  blocks.forEach(ofColor => ofColor.forEach(add));
  columns.forEach(column => (column.before *= column.height));
  parts.forEach((column, n) => {
    if (column.before >= 0) {
      column.block = ids[n] ?? column.block;
      column.before -= heights[n] ?? 0;
    }
  });
  return columns.values();
}

export function streamModels(bokeh: IBokehLibrary): readonly IModelClass[] {
  const { NumberSpec } = bokeh.require('core/properties');
  const { CustomJSHover } = bokeh.require('models/tools/inspectors/customjs_hover');
  const { HBar, HBarView } = bokeh.require('models/glyphs/hbar');

  /** Blocks in one pass for each class. */
  class StreamBlocksView extends HBarView {
    _paint(ctx: Untyped, indices: Untyped, data?: Untyped): void {
      const { fills, edges, alpha, is_running: isRunning } = this.model;
      const at = { ...this, ...data };
      const { sleft, sright, stop, sbottom } = at;
      const isOutlined = indices.length <= OUTLINED && !isRunning;
      const narrow: number[][] = [];
      const moves: number[] = [];
      const failed: number[] = [];
      const box = (
        i: number,
        left = sleft[i],
        width = sright[i] - left,
        top = stop[i],
        height = sbottom[i] - top
      ): void => {
        const code = this.code.get(i);
        ctx.fillStyle = fills[code];
        ctx.fillRect(left, top, width, height);
        if (isOutlined && width > 2) {
          ctx.strokeStyle = edges[code];
          ctx.strokeRect(left, top, width, height);
        }
      };
      ctx.lineWidth = 1;
      ctx.globalAlpha = alpha;
      for (const i of indices) {
        const [code, width] = [this.code.get(i), sright[i] - sleft[i]];
        if (!(width >= 0 && sbottom[i] >= stop[i])) {
          continue; // hidden, or not in the frame
        }
        if (code >= ERRED) {
          failed.push(i);
        } else if (code >= TRANSFER) {
          moves.push(i);
        } else if (width < 1) {
          (narrow[code] ??= []).push(i);
        } else {
          box(i);
        }
      }
      const { xscale, yscale } = this.renderer;
      const rowPx = Math.abs(yscale.compute(1) - yscale.compute(0));
      for (const { sx, sy, height, block } of pixelColumns(narrow, at, xscale.compute(0))) {
        const heightPx = Math.min(Math.max(height, LEAST_HEIGHT), FULL_HEIGHT) * rowPx;
        box(block, sx, 1, sy - heightPx / 2, heightPx);
      }
      moves.forEach(i => box(i));
      this._paintTails(ctx, moves, stop, sbottom);
      this._paintFailed(ctx, failed, at);
      ctx.globalAlpha = 1;
      if (isRunning) {
        this._paintPoints(ctx, indices);
      }
    }

    /** The end of each transfer that is (de)serialization. */
    _paintTails(ctx: Untyped, moves: readonly number[], stop: Untyped, sbottom: Untyped): void {
      const { fills, tail_share: share } = this.model;
      const { xscale, plot_view: plot } = this.renderer;
      const { h_range: frame } = plot.frame.bbox;
      ctx.fillStyle = fills[DESERIALIZE];
      for (const i of share > 0 ? moves : []) {
        if (this.code.get(i) === TRANSFER) {
          const begin = this.right[i] - share * (this.right[i] - this.left[i]);
          const from = Math.max(xscale.compute(begin), frame.start);
          const to = Math.min(xscale.compute(this.right[i]), frame.end);
          ctx.fillRect(from, stop[i], Math.max(to - from, 0), sbottom[i] - stop[i]);
        }
      }
    }

    /** Failed tasks have a hatch, another one if they died with their worker; small ones a rim. */
    _paintFailed(ctx: Untyped, failed: readonly number[], at: Untyped): void {
      const { fills, edges } = this.model;
      for (const i of failed) {
        const code = this.code.get(i);
        const [left, top] = [at.sleft[i], at.stop[i]];
        const width = Math.max(at.sright[i] - left, 1);
        const height = at.sbottom[i] - top;
        ctx.fillStyle = edges[code];
        ctx.fillRect(left - 1, top - 1, width + 2, height + 2);
        ctx.fillStyle = fills[code];
        ctx.fillRect(left, top, width, height);
        if (width >= HATCHED_PX && height >= HATCHED_PX) {
          ctx.fillStyle = hatch(ctx, FAILURES[code]?.[0] ?? '+', edges[code]);
          ctx.fillRect(left, top, width, height);
        }
      }
    }

    /** The pointed ends of what goes on. */
    _paintPoints(ctx: Untyped, indices: Untyped): void {
      for (const i of indices) {
        const x = this.renderer.xscale.compute(this.right[i]);
        const half = Math.min(POINT_PX, (this.sbottom[i] - this.stop[i]) / 2);
        ctx.fillStyle = this.model.fills[this.code.get(i)];
        ctx.beginPath();
        ctx.moveTo(x, this.sy[i] - half);
        ctx.lineTo(x + half, this.sy[i]);
        ctx.lineTo(x, this.sy[i] + half);
        ctx.fill();
      }
    }
  }

  /** Outlines so far outside of bars that narrow ones keep their colour. */
  class StreamOutlineView extends HBarView {
    _paint(ctx: Untyped, indices: Untyped): void {
      const ring = HALO_PX / 2;
      for (const i of indices) {
        const [x, y] = [this.sleft[i] - ring, this.stop[i] - ring];
        const width = this.sright[i] - this.sleft[i] + HALO_PX;
        const height = this.sbottom[i] - this.stop[i] + HALO_PX;
        ctx.lineWidth = HALO_PX;
        ctx.strokeStyle = this.model.halo_color;
        ctx.strokeRect(x, y, width, height);
        ctx.lineWidth = 2;
        this.visuals.line.set_vectorize(ctx, i);
        ctx.strokeRect(x, y, width, height);
      }
    }
  }

  /** The lines of the tooltip of a block; names are looked up by their numbers. */
  class StreamHover extends CustomJSHover {
    format(_value: unknown, format: string, vars: Untyped): string {
      const { index, name, glyph_view: glyph } = vars;
      const columns = glyph.renderer.model.data_source;
      const at = (column: string, otherwise: Untyped): Untyped =>
        columns.get_column(column)?.[index] ?? otherwise;
      const left = at('left', 0);
      const right = name === 'running' ? this.now : at('right', left);
      const busy = at('busy', right - left);
      return this[`_${format}`]({ name, count: at('count', 1), left, right, busy, at });
    }

    /** The text in `column` of the row in which `id` is this number. */
    _text(source: Untyped, id: string, column: string, number: number): string {
      return source.get_column(column)[source.get_column(id).indexOf(number)] ?? '';
    }

    _nameOf(block: IBlock): string {
      const text = this._text(this.names, 'id', 'text', block.at('prefix', 0));
      return (KINDS[block.at('kind', 0)] ?? '') + text;
    }

    _title(block: IBlock): string {
      if (block.name === 'gone') {
        return 'worker left';
      }
      const isMove = block.at('kind', 0) !== 0;
      const name = this._nameOf(block);
      if (block.count > 1) {
        const what = isMove ? 'transfers or disk accesses' : 'tasks';
        return `${block.count.toLocaleString('en')} ${what}, among them ${name}`;
      }
      if (block.name === 'running') {
        return `${name} · running`;
      }
      const code = block.at('code', 0);
      return name + (FAILURES[code]?.[1] ?? '');
    }

    _when(block: IBlock): string {
      const started = clock(this.zero + block.left);
      if (block.name === 'gone') {
        return `since ${started}`;
      }
      if (block.count > 1) {
        const longest = duration(block.at('longest', 0));
        const work = `${duration(block.busy)} of work in ${duration(block.right - block.left)}`;
        return `${work}, longest ${longest} · from ${started}`;
      }
      return `${duration(block.busy)} · started ${started}`;
    }

    _where(block: IBlock): string {
      const row = Math.floor(block.at('y', 0) + 0.5);
      const worker = workersOf(this.workers).find(one => row < one.first + one.count);
      const label = worker?.label ?? '';
      return block.name === 'gone' ? label : `${label} · thread ${row - (worker?.first ?? 0) + 1}`;
    }

    _size(block: IBlock): string {
      const n = block.at('nbytes', -1);
      const source = block.count > 1 ? 0 : block.at('source', 0);
      const from = source ? ` from ${this._text(this.names, 'id', 'text', source)}` : '';
      if (block.count > 1 || n < 0) {
        return from.trim();
      }
      return from ? size(n, 'B', true) + from : `result: ${size(n, 'B', true)}`;
    }

    /** What the workers' totals say about all transfers. */
    _share(block: IBlock): string {
      return block.at('kind', 0) === 1 ? this.transfer_note : '';
    }

    _key(block: IBlock): string {
      const own = block.at('key', null);
      return own ?? this._text(this.keys, 'task', 'key', block.at('task', -1));
    }
  }

  return [
    model('StreamBlocks', HBar, StreamBlocksView, ({ Bool, Color, Float, List }: Untyped) => ({
      code: [NumberSpec, { field: 'code' }],
      fills: [List(Color), []],
      edges: [List(Color), []],
      alpha: [Float, 1],
      tail_share: [Float, 0],
      is_running: [Bool, false]
    })),
    model('StreamOutline', HBar, StreamOutlineView, ({ Color }: Untyped) => ({
      halo_color: [Color, 'white']
    })),
    model('StreamHover', StreamHover, undefined, ({ AnyRef, Float, Str }: Untyped) => ({
      names: [AnyRef()],
      keys: [AnyRef()],
      workers: [AnyRef()],
      zero: [Float, 0],
      now: [Float, 0],
      transfer_note: [Str, '']
    }))
  ];
}
