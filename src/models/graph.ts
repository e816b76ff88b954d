/** Marks, lines and texts of graphs whose size follows the zoom: layers and rows are 1 apart. */

import { modelsOf, type IBokehLibrary, type IModelClass, type Untyped } from './bokeh';
import { fitText } from './canvas';

const model = modelsOf('dask_diag_lab.views.models');

/** Side of a mark, as a share of the distance to the next one, and its bounds in pixels. */
const MARK = { share: 0.72, leastPx: 4, mostPx: 16 };
/** Share of a surface that lines may cover together, and alpha of the faintest and of one alone. */
const LINES = { cover: 0.5, least: 0.012, most: 0.45 };

const PADDING_PX = 4;
/** Height of a line, in sizes of the font. */
const LINE = 1.27;
const SMALLEST_PX = 8;
/** Narrower boxes have their text upright, where that leaves more room for it. */
const NARROW_PX = 44;

type Measure = (text: string) => number;

/** Return figures joined by ' · ', or the first of them that fits: a part of one would be false. */
function fittingFigures(text: string, width: number, measure: Measure): string {
  return [text, ...text.split(' · ')].find(each => measure(each) <= width) ?? '';
}

export function graphModels(bokeh: IBokehLibrary): readonly IModelClass[] {
  const { Scatter, ScatterView } = bokeh.require('models/glyphs/scatter');
  const { Segment, SegmentView } = bokeh.require('models/glyphs/segment');
  const { Quad, QuadView } = bokeh.require('models/glyphs/quad');
  const { NumberSpec, StringSpec } = bokeh.require('core/properties');
  const { UniformScalar } = bokeh.require('core/uniforms');

  /** How many pixels layers and rows are apart. */
  function distancesPx(view: Untyped): [number, number] {
    const { xscale, yscale } = view.renderer;
    return [
      Math.abs(xscale.compute(1) - xscale.compute(0)),
      Math.abs(yscale.compute(1) - yscale.compute(0))
    ];
  }

  class GraphNodesView extends ScatterView {
    protected _map_data(): void {
      super._map_data();
      const { scale, least_px } = this.model;
      const roomPx = Math.min(...distancesPx(this)) * MARK.share;
      const usualPx = Math.min(Math.max(roomPx, MARK.leastPx), MARK.mostPx);
      const sizePx = Math.max(usualPx * scale, least_px);
      const everywhere = (value: number): Untyped => new UniformScalar(value, this.data_size);
      const now = {
        max_size: sizePx,
        size: everywhere(sizePx),
        line_width: everywhere(sizePx >= 9 ? 1.5 : 0.75)
      };
      for (const [name, value] of Object.entries(now)) {
        // As Bokeh itself sets them; they are read-only.
        Object.defineProperty(this, name, { configurable: true, enumerable: true, value });
      }
    }
  }
  class GraphNodes extends Scatter {}

  class GraphEdgesView extends SegmentView {
    protected _paint(ctx: Untyped, indices: Untyped): void {
      if (indices.length === 0) {
        return;
      }
      const { sx0, sy0, sx1, sy1, share } = this;
      const rowPx = distancesPx(this)[1];
      this.visuals.line.set_vectorize(ctx, indices[0]);
      for (const i of indices) {
        if (Number.isNaN(sx0[i] + sy0[i] + sx1[i] + sy1[i])) {
          continue; // an edge that is gone
        }
        const alpha = LINES.cover * rowPx * share.get(i);
        ctx.globalAlpha = Math.min(Math.max(alpha, LINES.least), LINES.most);
        ctx.beginPath();
        ctx.moveTo(sx0[i], sy0[i]);
        ctx.lineTo(sx1[i], sy1[i]);
        ctx.stroke();
      }
      ctx.globalAlpha = 1;
    }
  }
  class GraphEdges extends Segment {}

  class BoxLabelsView extends QuadView {
    protected _paint(ctx: Untyped, indices: Untyped): void {
      const { font, font_size } = this.model;
      const fontPx = parseFloat(font_size) || 12;
      ctx.textBaseline = 'middle';
      ctx.textAlign = 'left';
      for (const i of indices) {
        const wide = this.sright[i] - this.sleft[i];
        const high = this.sbottom[i] - this.stop[i];
        const isTurned = wide < NARROW_PX && high > wide;
        const [along, across] = isTurned ? [high, wide] : [wide, high];
        const size = Math.min(fontPx, Math.max(Math.floor((across - 2) / LINE), SMALLEST_PX));
        if (!(across > SMALLEST_PX) || !(along > 2 * size)) {
          continue; // nothing to read
        }
        ctx.save();
        ctx.font = `${size}px ${font}`;
        ctx.translate(this.sleft[i], isTurned ? this.sbottom[i] : this.stop[i]);
        if (isTurned) {
          ctx.rotate(-Math.PI / 2);
        }
        this._write(ctx, i, along - 2 * PADDING_PX, across, size);
        ctx.restore();
      }
    }

    private _write(ctx: Untyped, i: number, width: number, height: number, size: number): void {
      const measure: Measure = text => ctx.measureText(text).width;
      const nLines = Math.max(Math.floor((height - 2) / (size * LINE)), 1);
      const figures = [this.count, this.more].map(column =>
        fittingFigures(column.get(i), width, measure)
      );
      const [label, short] = [this.label.get(i), this.short.get(i)];
      // Where the short name is the whole one, others begin like it: their ends tell them apart.
      const name = measure(label) <= width ? label : fitText(ctx, short, width, label === short);
      const lines = [name, ...figures].slice(0, nLines);
      const above = Math.min((height - lines.length * size * LINE) / 2, PADDING_PX);
      lines.forEach((text, line) => {
        ctx.fillStyle = line === 0 ? this.model.color : this.model.muted_color;
        ctx.fillText(text, PADDING_PX, above + (line + 0.5) * size * LINE);
      });
    }
  }
  class BoxLabels extends Quad {}

  return [
    model('GraphNodes', GraphNodes, GraphNodesView, ({ Float }: Untyped) => ({
      scale: [Float, 1],
      least_px: [Float, 0]
    })),
    model('GraphEdges', GraphEdges, GraphEdgesView, { share: [NumberSpec, { value: 1 }] }),
    model('BoxLabels', BoxLabels, BoxLabelsView, ({ Color, Str }: Untyped) => ({
      label: [StringSpec, { field: 'label' }],
      short: [StringSpec, { field: 'short' }],
      count: [StringSpec, { field: 'count' }],
      more: [StringSpec, { field: 'more' }],
      color: [Color, '#000000'],
      muted_color: [Color, '#000000'],
      font: [Str, 'sans-serif'],
      font_size: [Str, '12px']
    }))
  ];
}
