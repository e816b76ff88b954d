/** The task stream: its bars, what it shows of one under the pointer, and its gestures. */

import { modelsOf, type IBokehLibrary, type IModelClass, type Untyped } from './bokeh';
import { clock, duration, size } from './format';
import { columnOf, workersOf } from './timeline';

const model = modelsOf('dask_diag_lab.views.scripted');

/** Codes of colours, as in `views/stream/frame.py`; below them are prefixes. */
const TRANSFER = 216;
const DESERIALIZE = 218;
const ERRED = 219;
const KILLED = 220;
/** More blocks than this go without outline, which takes most of the time of drawing them. */
const OUTLINED = 2000;
/** Smaller failed tasks have a rim in place of a hatch. */
const HATCHED_PX = 8;
const CROSS_PX = 4;
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

/** Crossed lines for what failed, slanted ones for what died with its worker. */
function hatch(ctx: CanvasRenderingContext2D, color: string, code: number): CanvasPattern | null {
  const tile = document.createElement('canvas');
  tile.width = tile.height = 7;
  const lines = tile.getContext('2d');
  if (lines !== null) {
    lines.strokeStyle = color;
    lines.lineWidth = code === ERRED ? 0.8 : 1.2;
    lines.stroke(new Path2D(code === ERRED ? 'M0 3.5H7M3.5 0V7' : 'M-1 -1L8 8M-1 6L1 8M6 -1L8 1'));
  }
  return ctx.createPattern(tile, 'repeat');
}

export function streamModels(bokeh: IBokehLibrary): readonly IModelClass[] {
  const { NumberSpec } = bokeh.require('core/properties');
  const { CustomJSHover } = bokeh.require('models/tools/inspectors/customjs_hover');
  const { HBar, HBarView } = bokeh.require('models/glyphs/hbar');

  /** Blocks in one pass for each class; a colour is set only where it changes. */
  class StreamBlocksView extends HBarView {
    _paint(ctx: Untyped, indices: Untyped, data?: Untyped): void {
      const { fills, edges, alpha, is_running: isRunning } = this.model;
      const { sleft, sright, stop, sbottom } = { ...this, ...data };
      const isOutlined = indices.length <= OUTLINED && !isRunning;
      const moves: number[] = [];
      const failed: number[] = [];
      let last = -1;
      const box = (i: number, leastPx: number): void => {
        const width = sright[i] - sleft[i];
        const height = sbottom[i] - stop[i];
        if (!(width >= 0 && height >= 0)) {
          return; // hidden, or not in the frame
        }
        const code = this.code.get(i);
        if (code !== last) {
          last = code;
          ctx.fillStyle = fills[code];
          ctx.strokeStyle = edges[code];
        }
        ctx.fillRect(sleft[i], stop[i], Math.max(width, leastPx), height);
        if (isOutlined && width > 2) {
          ctx.strokeRect(sleft[i], stop[i], width, height);
        }
      };
      ctx.lineWidth = 1;
      ctx.globalAlpha = alpha;
      for (const i of indices) {
        const code = this.code.get(i);
        if (code >= ERRED) {
          failed.push(i);
        } else if (code >= TRANSFER) {
          moves.push(i);
        } else {
          box(i, 1);
        }
      }
      moves.forEach(i => box(i, 0));
      this._paintTails(ctx, moves, stop, sbottom);
      this._paintFailed(ctx, failed, { sleft, sright, stop, sbottom });
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

    /** Failed tasks have a hatch, small ones a rim; what died with its worker ends in a cross. */
    _paintFailed(ctx: Untyped, failed: readonly number[], at: Untyped): void {
      const { fills, edges } = this.model;
      const hatches = new Map([ERRED, KILLED].map(code => [code, hatch(ctx, edges[code], code)]));
      for (const i of failed) {
        const code = this.code.get(i);
        const [left, top] = [at.sleft[i], at.stop[i]];
        const [width, height] = [at.sright[i] - left, at.sbottom[i] - top];
        if (!(width >= 0 && height >= 0)) {
          continue;
        }
        const isHatched = width >= HATCHED_PX && height >= HATCHED_PX;
        if (!isHatched) {
          ctx.fillStyle = edges[code];
          ctx.fillRect(left - 1, top - 1, Math.max(width, 1) + 2, height + 2);
        }
        ctx.fillStyle = fills[code];
        ctx.fillRect(left, top, Math.max(width, 1), height);
        if (isHatched) {
          ctx.strokeStyle = edges[code];
          ctx.strokeRect(left, top, width, height);
          ctx.fillStyle = hatches.get(code);
          ctx.fillRect(left, top, width, height);
        }
        if (code === KILLED) {
          this._paintCross(ctx, this.renderer.xscale.compute(this.right[i]), top + height / 2, i);
        }
      }
    }

    _paintCross(ctx: Untyped, x: number, y: number, i: number): void {
      ctx.strokeStyle = this.model.edges[this.code.get(i)];
      ctx.lineWidth = 2;
      ctx.beginPath();
      for (const [from, to] of [
        [-CROSS_PX, CROSS_PX],
        [CROSS_PX, -CROSS_PX]
      ] as const) {
        ctx.moveTo(x - CROSS_PX, y + from);
        ctx.lineTo(x + CROSS_PX, y + to);
      }
      ctx.stroke();
      ctx.lineWidth = 1;
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
  class StreamBlocks extends HBar {}

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
  class StreamOutline extends HBar {}

  /** The lines of the tooltip of a block; names are looked up by their numbers. */
  class StreamHover extends CustomJSHover {
    format(_value: unknown, format: string, vars: Untyped): string {
      const { index, name, glyph_view: glyph } = vars;
      const columns = glyph.renderer.model.data_source;
      const at = (column: string, otherwise: Untyped): Untyped =>
        columnOf(columns, column)?.[index] ?? otherwise;
      const left = at('left', 0);
      const right = name === 'running' ? this.now : at('right', left);
      const block = {
        name,
        count: at('count', 1),
        left,
        right,
        busy: at('busy', right - left),
        at
      };
      return this[`_${format}`]?.(block) ?? '';
    }

    /** The text in `column` of the row in which `id` is this number. */
    _text(source: Untyped, id: string, column: string, number: number): string {
      return columnOf(source, column)[columnOf(source, id).indexOf(number)] ?? '';
    }

    _nameOf(block: IBlock): string {
      const text = this._text(this.names, 'id', 'text', block.at('prefix', 0));
      return (KINDS[block.at('kind', 0)] ?? '') + text;
    }

    _title(block: IBlock): string {
      if (block.name === 'gone') {
        return 'worker left';
      }
      const code = block.at('code', 0);
      const isMove = block.at('kind', 0) !== 0;
      if (block.count > 1) {
        const what = isMove
          ? 'transfers or disk accesses'
          : code === ERRED
            ? 'failed tasks'
            : 'tasks';
        return `${block.count.toLocaleString('en')} ${what}, longest: ${this._nameOf(block)}`;
      }
      const suffixes = new Map([
        [ERRED, ' · failed'],
        [KILLED, ' · its worker died']
      ]);
      const suffix = block.name === 'running' ? ' · running' : (suffixes.get(code) ?? '');
      return this._nameOf(block) + suffix;
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
      const { start, end } = this.times;
      const share = (100 * block.busy) / Math.max(Math.abs(end - start), 1e-12);
      const percent = share < 0.1 ? '<0.1' : share.toFixed(share < 10 ? 1 : 0);
      const part = share > 100 ? 'longer than the window' : `${percent} % of the window`;
      return `${duration(block.busy)} · ${part} · started ${started}`;
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

    /** What the workers' totals say about this prefix, or about all transfers. */
    _share(block: IBlock): string {
      const kind = block.at('kind', 0);
      if (block.name === 'gone' || kind > 1) {
        return '';
      }
      return kind === 1
        ? this.transfer_note
        : this._text(this.names, 'id', 'note', block.at('prefix', 0));
    }

    _key(block: IBlock): string {
      const own = block.at('key', null);
      return own ?? this._text(this.keys, 'task', 'key', block.at('task', -1));
    }
  }

  return [
    model(
      'StreamBlocks',
      StreamBlocks,
      StreamBlocksView,
      ({ Bool, Color, Float, List }: Untyped) => ({
        code: [NumberSpec, { field: 'code' }],
        fills: [List(Color), []],
        edges: [List(Color), []],
        alpha: [Float, 1],
        tail_share: [Float, 0],
        is_running: [Bool, false]
      })
    ),
    model('StreamOutline', StreamOutline, StreamOutlineView, ({ Color }: Untyped) => ({
      halo_color: [Color, 'white']
    })),
    model('StreamHover', StreamHover, undefined, ({ AnyRef, Float, Str }: Untyped) => ({
      names: [AnyRef()],
      keys: [AnyRef()],
      workers: [AnyRef()],
      times: [AnyRef()],
      zero: [Float, 0],
      now: [Float, 0],
      transfer_note: [Str, '']
    }))
  ];
}
