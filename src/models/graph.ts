/** Marks, lines and texts of graphs whose size follows the zoom: layers and rows are 1 apart. */

import { model, type IBokehLibrary, type IModelClass, type Untyped } from './bokeh';
import { fitText } from './canvas';

/** Side of a mark, as a share of the distance to the next one, and its bounds in pixels. */
const MARK = { share: 0.72, leastPx: 4, mostPx: 16 };
/** Share of a surface that lines may cover together, and alpha of the faintest and of one alone. */
const LINES = { cover: 0.5, least: 0.012, most: 0.45 };

const PADDING_PX = 4;
/** Height of a line, in sizes of the font. */
const LINE = 1.27;
const SMALLEST_PX = 8;

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
      const spacePx = Math.min(...distancesPx(this)) * MARK.share;
      const usualPx = Math.min(Math.max(spacePx, MARK.leastPx), MARK.mostPx);
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

  class GraphEdgesView extends SegmentView {
    protected _paint(ctx: Untyped, indices: Untyped): void {
      if (indices.length === 0) {
        return;
      }
      const { sx0, sy0, sx1, sy1, share } = this;
      const rowPx = distancesPx(this)[1];
      this.visuals.line.set_vectorize(ctx, indices[0]);
      for (const i of indices) {
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

  class BoxLabelsView extends QuadView {
    protected _paint(ctx: Untyped, indices: Untyped): void {
      const { font, font_size, color, muted_color } = this.model;
      ctx.textBaseline = 'middle';
      ctx.textAlign = 'left';
      for (const i of indices) {
        const [left, top] = [this.sleft[i], this.stop[i]];
        const width = this.sright[i] - left - 2 * PADDING_PX;
        const height = this.sbottom[i] - top;
        const fitting = Math.max(Math.floor((height - 2) / LINE), SMALLEST_PX);
        const size = Math.min(parseFloat(font_size) || 12, fitting);
        if (!(height > SMALLEST_PX) || !(width > 2 * size)) {
          continue; // nothing to read
        }
        ctx.font = `${size}px ${font}`;
        const nLines = Math.max(Math.floor((height - 2) / (size * LINE)), 1);
        this._lines(ctx, i, width)
          .slice(0, nLines)
          .forEach((text, line) => {
            ctx.fillStyle = line === 0 ? color : muted_color;
            ctx.fillText(text, left + PADDING_PX, top + PADDING_PX + (line + 0.5) * size * LINE);
          });
      }
    }

    private _lines(ctx: Untyped, i: number, width: number): string[] {
      const fits = (text: string): boolean => ctx.measureText(text).width <= width;
      const [label, short] = [this.label.get(i), this.short.get(i)];
      // Where the short name is the whole one, others begin like it: their ends tell them apart.
      const name = fits(label) ? label : fitText(ctx, short, width, label === short);
      // Of figures joined by ' · ' the first that fits: a part of one would be false.
      const figures = [this.count, this.more].map(column => {
        const text: string = column.get(i);
        return [text, ...text.split(' · ')].find(fits) ?? '';
      });
      return [name, ...figures];
    }
  }

  return [
    model('GraphNodes', Scatter, GraphNodesView, ({ Float }: Untyped) => ({
      scale: [Float, 1],
      least_px: [Float, 0]
    })),
    model('GraphEdges', Segment, GraphEdgesView, { share: [NumberSpec, { value: 1 }] }),
    model('BoxLabels', Quad, BoxLabelsView, ({ Color, Str }: Untyped) => ({
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
