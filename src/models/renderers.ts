/** Renderers that paint less often. */

import { model, type IBokehLibrary, type IModelClass, type Untyped } from './bokeh';

const same = (given: Untyped): Untyped => given;
const EVERY_ROW = { has: () => true, get: same };

export function rendererModels(bokeh: IBokehLibrary): readonly IModelClass[] {
  const { GlyphRenderer, GlyphRendererView } = bokeh.require('models/renderers/glyph_renderer');
  const { CDSView } = bokeh.require('models/sources/cds_view');
  const { Indices } = bokeh.require('core/types');
  const { View } = bokeh.require('core/view');
  const { build_view } = bokeh.require('core/build_views');
  const above = Object.getPrototypeOf(GlyphRendererView.prototype);

  /** All rows of whatever source: keeps nothing of it, so that one does for all renderers. */
  class AllRows extends CDSView {
    get indices_map(): object {
      return EVERY_ROW;
    }

    set indices_map(_: object) {
      return;
    }

    get_subset_index = same;
    has_subset_index = (): boolean => true;
    convert_selection_from_subset = same;
    convert_selection_to_subset = same;
    convert_indices_from_subset = same;
  }

  /** BokehJS sets data and colours one after the other: nothing is painted before both are there. */
  class AtomicRendererView extends GlyphRendererView {
    async update_data(indices?: Untyped): Promise<void> {
      this._updates = (this._updates ?? 0) + 1;
      try {
        await this.set_data(indices);
      } finally {
        this._updates -= 1;
      }
      this.request_paint();
    }

    // A change of the layout in the same message has all painted at once.
    paint(ctx: Untyped): void {
      if (!this._updates) {
        super.paint(ctx);
      }
    }

    draw_legend(...given: Untyped[]): void {
      if (!this._updates) {
        super.draw_legend(...given);
      }
    }
  }
  class AtomicRenderer extends GlyphRenderer {
    // BokehJS tells by this name what a pointer can be over, for tooltips and selections.
    get type(): string {
      return 'GlyphRenderer';
    }
  }

  /** Has one view of its glyph where Bokeh's has five, each of which takes in all data. */
  class PlainRendererView extends AtomicRendererView {
    async lazy_initialize(): Promise<void> {
      await above.lazy_initialize.call(this);
      this.cds_view = await build_view(this.model.view, { parent: this });
      this.glyph = await this.build_glyph_view(this.model.glyph);
      this.selection_glyph = this.nonselection_glyph = this.glyph;
      this.muted_glyph = this.decimated_glyph = this.glyph;
      await this.set_data();
    }

    remove(): void {
      this.cds_view.remove();
      this.glyph.remove();
      above.remove.call(this);
    }

    async set_data(indices?: Untyped): Promise<void> {
      // Without columns there is one row, of the glyph's own values.
      this.all_indices = Indices.all_set(this.model.data_source.get_length() ?? 1);
      await this.glyph.set_data(this.model.data_source, this.all_indices, indices);
      await this.set_visuals();
      this.plot_view.invalidate_dataranges = true;
    }

    async set_visuals(): Promise<void> {
      this.glyph.set_visuals(this.model.data_source, this.all_indices);
      this.glyph.after_visuals();
      await this.glyph.after_lazy_visuals();
    }

    map_data(): void {
      this.glyph.map_data();
    }

    _paint(ctx: Untyped): void {
      this.map_data();
      ctx.save();
      this.glyph.paint(ctx, this.glyph.mask_data().ones());
      ctx.restore();
    }

    /** The first row with this value, for a legend; the first of all where there is none. */
    get_reference_point(field: string | null, value: unknown): number {
      const column = field == null ? null : this.model.data_source.get_column(field);
      return Math.max(column?.indexOf(value) ?? 0, 0);
    }
  }

  return [
    model('AllRows', AllRows, View),
    model('AtomicRenderer', AtomicRenderer, AtomicRendererView),
    model('PlainRenderer', AtomicRenderer, PlainRendererView)
  ];
}
