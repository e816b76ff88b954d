/* The browser side of our own Bokeh models (views/scripted.py): what a stock model could do only
 * with code sent as text, which a page without `unsafe-eval` does not run, or too slowly.
 *
 * Runs once after each version of BokehJS, and adds the models to every version that lacks them.
 */
(() => {
  'use strict';

  const MODULE = 'dask_diag_lab.views.scripted';

  const short = x => (x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2));

  /** A duration in words, e.g. "12.3 ms". */
  function span(s) {
    if (s < 0.9995e-3) {
      return `${short(s * 1e6)} µs`;
    }
    if (s < 0.9995) {
      return `${short(s * 1e3)} ms`;
    }
    if (s < 59.95) {
      return `${short(s)} s`;
    }
    const minutes = Math.floor(s / 60);
    return minutes < 60
      ? `${minutes} min ${Math.floor(s % 60)} s`
      : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }

  function bytes(n) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
    let unit = 0;
    while (n >= 999.5 && unit < units.length - 1) {
      n /= 1024;
      unit += 1;
    }
    return `${unit === 0 ? n.toFixed(0) : short(n)} ${units[unit]}`;
  }

  function clock(s) {
    const time = new Date(s * 1000);
    const two = x => String(x).padStart(2, '0');
    const clock = [time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':');
    return `${clock}.${String(time.getMilliseconds()).padStart(3, '0')}`;
  }

  /** The word of a tick among others, in seconds of a run: "1 h 5 min"; left of 0 "10 s before". */
  function runTime(tick, ticks) {
    const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : Math.abs(tick) || 1;
    const most = Math.max(...ticks.map(Math.abs));
    const before = tick < 0 ? ' before' : '';
    const s = Math.abs(tick);
    if (s < step / 1e6) {
      return '0 s';
    }
    const [unit, times] = most >= 1 ? ['s', 1] : most >= 1e-3 ? ['ms', 1e3] : ['µs', 1e6];
    const digits = Math.max(0, Math.ceil(-Math.log10(step * times) - 1e-6));
    if (s < 60 - step / 1e6) {
      return `${(s * times).toFixed(digits)} ${unit}${before}`;
    }
    const rest = (s % 60).toFixed(digits);
    const carry = Number(rest) >= 60 ? 1 : 0;
    const minutes = Math.floor(s / 60) + carry;
    const parts = [
      [Math.floor(minutes / 1440), 'd'],
      [Math.floor((minutes % 1440) / 60), 'h'],
      [minutes % 60, 'min'],
      [carry || Number(rest) === 0 ? 0 : rest, 's']
    ];
    return (
      parts
        .filter(([n]) => n !== 0)
        .map(([n, name]) => `${n} ${name}`)
        .join(' ') + before
    );
  }

  function modelsOf(bokeh) {
    const { GlyphRenderer, GlyphRendererView } = bokeh.require('models/renderers/glyph_renderer');
    const { CDSView } = bokeh.require('models/sources/cds_view');
    const { Indices } = bokeh.require('core/types');
    const { View } = bokeh.require('core/view');
    const { build_view } = bokeh.require('core/build_views');
    const { CustomJSHover } = bokeh.require('models/tools/inspectors/customjs_hover');
    const { HBar, HBarView } = bokeh.require('models/glyphs/hbar');
    const { PanTool, PanToolView } = bokeh.require('models/tools/gestures/pan_tool');
    const { BasicTickFormatter } = bokeh.require('models/formatters/basic_tick_formatter');
    const { TickFormatter } = bokeh.require('models/formatters/tick_formatter');
    const { WheelZoomTool, WheelZoomToolView } = bokeh.require(
      'models/tools/gestures/wheel_zoom_tool'
    );

    const HATCHED_PX = 8;

    /** Bars painted in one pass: a colour is made only when it changes, no bar is invisible. */
    class StreamBarsView extends HBarView {
      /** Nothing is painted narrower than this. */
      get _leastPx() {
        return 1;
      }

      _paint(ctx, indices, data) {
        if (this.visuals.hatch.doit) {
          this._paint_marked(ctx, indices, data);
          return;
        }
        const { fill, line } = this.visuals;
        const { sleft, sright, stop, sbottom } = { ...this, ...data };
        const hasLine = line.doit;
        const leastPx = this._leastPx;
        let last = null;
        for (const i of indices) {
          const left = sleft[i];
          const width = sright[i] - left;
          const height = sbottom[i] - stop[i];
          if (!(width >= 0 && height >= 0)) {
            continue;
          }
          const color = fill.fill_color.get(i);
          if (color !== last) {
            last = color;
            fill.set_vectorize(ctx, i);
            if (hasLine) {
              line.set_vectorize(ctx, i);
            }
          }
          ctx.fillRect(left, stop[i], Math.max(width, leastPx), height);
          if (hasLine && width > 2) {
            ctx.strokeRect(left, stop[i], width, height);
          }
        }
      }

      /** Bars with a hatch; one too small for it has a rim, which shows on any colour. */
      _paint_marked(ctx, indices, data) {
        const { fill, line } = this.visuals;
        const { sleft, sright, stop, sbottom } = { ...this, ...data };
        const large = [];
        const small = [];
        for (const i of indices) {
          const width = sright[i] - sleft[i];
          const height = sbottom[i] - stop[i];
          if (width >= HATCHED_PX && height >= HATCHED_PX) {
            large.push(i);
          } else if (width >= 0 && height >= 0) {
            small.push(i);
          }
        }
        super._paint(ctx, large, data);
        if (!small.length) {
          return;
        }
        const box = (i, rim) => {
          const width = Math.max(sright[i] - sleft[i], 1);
          const height = sbottom[i] - stop[i];
          ctx.fillRect(sleft[i] - rim, stop[i] - rim, width + 2 * rim, height + 2 * rim);
        };
        line.set_vectorize(ctx, small[0]);
        ctx.fillStyle = ctx.strokeStyle;
        small.forEach(i => box(i, 1));
        fill.set_vectorize(ctx, small[0]);
        small.forEach(i => box(i, 0));
      }
    }
    class StreamBars extends HBar {
      static {
        this.__module__ = MODULE;
        this.__name__ = 'StreamBars';
        this.prototype.default_view = StreamBarsView;
      }
    }

    /** Bars of true width: the canvas paints one of a tenth of a pixel as a tenth of its colour. */
    class StreamMovesView extends StreamBarsView {
      get _leastPx() {
        return 0;
      }
    }
    class StreamMoves extends StreamBars {
      static {
        this.__module__ = MODULE;
        this.__name__ = 'StreamMoves';
        this.prototype.default_view = StreamMovesView;
      }
    }

    /** The last part of each bar, where its colour is not transparent. */
    class StreamTailsView extends StreamBarsView {
      _paint(ctx, indices, data) {
        const { share } = this.model;
        const { stop, sbottom } = { ...this, ...data };
        const { left, right } = this;
        const { xscale } = this.renderer;
        const { h_range } = this.renderer.plot_view.frame.bbox;
        for (const i of share > 0 ? indices : []) {
          if (this.visuals.fill.v_doit(i) && this.visuals.fill.fill_color.get(i) % 256 > 0) {
            const begin = right[i] - share * (right[i] - left[i]);
            const from = Math.max(xscale.compute(begin), h_range.start);
            const to = Math.min(xscale.compute(right[i]), h_range.end);
            this.visuals.fill.set_vectorize(ctx, i);
            ctx.fillRect(from, stop[i], Math.max(to - from, 0), sbottom[i] - stop[i]);
          }
        }
      }
    }
    class StreamTails extends StreamBars {
      static {
        this.__module__ = MODULE;
        this.__name__ = 'StreamTails';
        this.prototype.default_view = StreamTailsView;
        this.define(({ Float }) => ({ share: [Float, 0] }));
      }
    }

    const KINDS = ['', 'transfer for ', 'disk read for ', 'disk write for ', 'unpack '];

    /** What a task stream says about a rectangle; names are looked up by their numbers. */
    class StreamHover extends CustomJSHover {
      static {
        this.__module__ = MODULE;
        this.__name__ = 'StreamHover';
        this.define(({ AnyRef, Str }) => ({
          source: [AnyRef()],
          texts: [AnyRef()],
          shares: [AnyRef()],
          keys: [AnyRef()],
          rows: [AnyRef()],
          workers: [AnyRef()],
          facts: [AnyRef()],
          range: [AnyRef()],
          what: [Str, ''],
          suffix: [Str, '']
        }));
      }

      format(_value, format, vars) {
        const i = vars.index;
        const columns = this.source.data;
        const column = name => (columns instanceof Map ? columns.get(name) : columns[name]);
        const at = (name, otherwise) => column(name)?.[i] ?? otherwise;
        const left = at('left', 0);
        const right = at('right', this._fact('now'));
        const rect = { count: at('count', 1), left, right, busy: at('busy', right - left), at };
        return this[`_${format}`]?.(rect) ?? '';
      }

      _look(model, name, index) {
        const data = model.data;
        const column = data instanceof Map ? data.get(name) : data[name];
        return column?.[index];
      }

      _fact(name) {
        return this._look(this.facts, name, 0);
      }

      /** The text in `column` of the row whose `id` is this number. */
      _text(model, id, column, number) {
        const data = model.data;
        const ids = data instanceof Map ? data.get(id) : data[id];
        const k = ids.indexOf(number);
        return k < 0 ? '' : this._look(model, column, k);
      }

      _name(rect) {
        const text = this._text(this.texts, 'id', 'text', rect.at('prefix', 0));
        return KINDS[rect.at('kind', 0)] + text;
      }

      _title(rect) {
        if (rect.count > 1) {
          return `${rect.count.toLocaleString('en')} ${this.what}, longest: ${this._name(rect)}`;
        }
        return this.what === 'worker' ? 'worker left' : this._name(rect) + this.suffix;
      }

      _when(rect) {
        const started = clock(this._fact('zero') + rect.left);
        if (this.what === 'worker') {
          return `since ${started}`;
        }
        if (rect.count > 1) {
          const longest = span(rect.at('longest', 0));
          const work = `${span(rect.busy)} of work in ${span(rect.right - rect.left)}`;
          return `${work}, longest ${longest} · from ${started}`;
        }
        const { start, end } = this.range;
        const share = (100 * rect.busy) / Math.max(Math.abs(end - start), 1e-12);
        const percent = share < 0.1 ? '<0.1' : share.toFixed(share < 10 ? 1 : 0);
        const part = share > 100 ? 'longer than the window' : `${percent} % of the window`;
        return `${span(rect.busy)} · ${part} · started ${started}`;
      }

      _where(rect) {
        const row = Math.floor(rect.at('lane', 0));
        const name = this._look(this.workers, 'label', this._look(this.rows, 'worker', row));
        const slot = this._look(this.rows, 'slot', row);
        return this.what === 'worker' ? name : `${name} · thread ${slot + 1}`;
      }

      _size(rect) {
        const n = rect.at('nbytes', -1);
        const source = rect.count > 1 ? 0 : rect.at('source', 0);
        const from = source ? ` from ${this._text(this.texts, 'id', 'text', source)}` : '';
        if (rect.count > 1 || n < 0) {
          return from.trim();
        }
        return from ? bytes(n) + from : `result: ${bytes(n)}`;
      }

      /** What the workers' totals say about this prefix, or about all transfers. */
      _share(rect) {
        if (this.what === 'worker') {
          return '';
        }
        const kind = rect.at('kind', 0);
        if (kind === 1) {
          return this._fact('transfer_words') ?? '';
        }
        return kind === 0 ? this._text(this.shares, 'id', 'words', rect.at('prefix', 0)) : '';
      }

      _key(rect) {
        const own = rect.at('key', null);
        if (own !== null || this.what === 'worker') {
          return own ?? '';
        }
        return this._text(this.keys, 'task', 'key', rect.at('task', -1));
      }
    }

    class RunTimeTickFormatter extends TickFormatter {
      static {
        this.__module__ = MODULE;
        this.__name__ = 'RunTimeTickFormatter';
      }

      doFormat(ticks, _opts) {
        return ticks.map(tick => runTime(tick, ticks));
      }
    }

    /** Writes the words that the axis has for its ticks, before Bokeh has made labels of them. */
    class WordedTickFormatter extends BasicTickFormatter {
      static {
        this.__module__ = MODULE;
        this.__name__ = 'WordedTickFormatter';
      }

      doFormat(ticks, axis) {
        const words = axis.model?.major_label_overrides;
        return super
          .doFormat(ticks, axis)
          .map((number, i) => (words instanceof Map ? words.get(ticks[i]) : null) ?? number);
      }
    }

    /** Ctrl-wheel (and a pinch) zooms time; the plain wheel scrolls rows where not all fit. */
    class RowsWheelToolView extends WheelZoomToolView {
      _scroll(ev) {
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
    class RowsWheelTool extends WheelZoomTool {
      static {
        this.__module__ = MODULE;
        this.__name__ = 'RowsWheelTool';
        this.prototype.default_view = RowsWheelToolView;
        this.define(({ AnyRef }) => ({ rows: [AnyRef()] }));
      }
    }

    /** A drag pans; with Alt or Ctrl it marks a stretch of time, which is then zoomed to. */
    class StretchToolView extends PanToolView {
      _pan_start(ev) {
        this._from = ev.modifiers.alt || ev.modifiers.ctrl ? ev.sx : null;
        if (this._from === null) {
          super._pan_start(ev);
        }
      }

      _pan(ev) {
        if (this._from === null) {
          super._pan(ev);
          return;
        }
        const [left, right] = this._stretch(ev.sx);
        this.model.overlay.setv({ left, right, visible: true });
      }

      _pan_end(ev) {
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

      _stretch(sx) {
        const { x_scale, bbox } = this.plot_view.frame;
        const ends = [this._from, Math.min(Math.max(sx, bbox.left), bbox.right)];
        return ends.map(at => x_scale.invert(at)).sort((a, b) => a - b);
      }
    }
    class StretchTool extends PanTool {
      static {
        this.__module__ = MODULE;
        this.__name__ = 'StretchTool';
        this.prototype.default_view = StretchToolView;
        this.define(({ AnyRef }) => ({ times: [AnyRef()], overlay: [AnyRef()] }));
      }
    }

    const EVERY_ROW = { has: () => true, get: index => index };
    /** All rows of whatever source: keeps nothing of it, so that one does for all renderers. */
    class AllRows extends CDSView {
      static {
        this.__module__ = MODULE;
        this.__name__ = 'AllRows';
        this.prototype.default_view = View;
      }

      get indices_map() {
        return EVERY_ROW;
      }

      set indices_map(_) {}

      get_subset_index(index) {
        return index;
      }

      has_subset_index() {
        return true;
      }

      convert_selection_from_subset(selection) {
        return selection;
      }

      convert_selection_to_subset(selection) {
        return selection;
      }

      convert_indices_from_subset(indices) {
        return indices;
      }
    }

    /** Is not painted between data and its colours, which BokehJS takes in one after the other. */
    class SteadyRendererView extends GlyphRendererView {
      async update_data(indices) {
        this._taking = (this._taking ?? 0) + 1;
        try {
          await this.set_data(indices);
        } finally {
          this._taking -= 1;
        }
        this.request_paint();
      }

      // A change of the layout in the same message has all painted at once.
      paint(ctx) {
        if (!this._taking) {
          super.paint(ctx);
        }
      }

      draw_legend(...given) {
        if (!this._taking) {
          super.draw_legend(...given);
        }
      }
    }
    class SteadyRenderer extends GlyphRenderer {
      static {
        this.__module__ = MODULE;
        this.__name__ = 'SteadyRenderer';
        this.prototype.default_view = SteadyRendererView;
      }

      // BokehJS tells by this name what a pointer can be over, for tooltips and selections.
      get type() {
        return 'GlyphRenderer';
      }
    }

    /** Has one view of its glyph where Bokeh's has five, each of which takes in all data. */
    class PlainRendererView extends SteadyRendererView {
      async lazy_initialize() {
        await ABOVE.lazy_initialize.call(this);
        this.cds_view = await build_view(this.model.view, { parent: this });
        this.glyph = await this.build_glyph_view(this.model.glyph);
        this.selection_glyph = this.nonselection_glyph = this.glyph;
        this.muted_glyph = this.decimated_glyph = this.glyph;
        await this.set_data();
      }

      remove() {
        this.cds_view.remove();
        this.glyph.remove();
        ABOVE.remove.call(this);
      }

      async set_data(indices) {
        // Without columns there is one row, of the glyph's own values.
        this.all_indices = Indices.all_set(this.model.data_source.get_length() ?? 1);
        await this.glyph.set_data(this.model.data_source, this.all_indices, indices);
        await this.set_visuals();
        this.plot_view.invalidate_dataranges = true;
      }

      async set_visuals() {
        this.glyph.set_visuals(this.model.data_source, this.all_indices);
        this.glyph.after_visuals();
        await this.glyph.after_lazy_visuals();
      }

      map_data() {
        this.glyph.map_data();
      }

      _paint(ctx) {
        this.map_data();
        ctx.save();
        this.glyph.paint(ctx, this.glyph.mask_data().ones());
        ctx.restore();
      }

      /** The first row with this value, for a legend; the first of all where there is none. */
      get_reference_point(field, value) {
        const column = field == null ? null : this.model.data_source.get_column(field);
        return Math.max(column?.indexOf(value) ?? 0, 0);
      }
    }
    const ABOVE = Object.getPrototypeOf(GlyphRendererView.prototype);
    class PlainRenderer extends SteadyRenderer {
      static {
        this.__module__ = MODULE;
        this.__name__ = 'PlainRenderer';
        this.prototype.default_view = PlainRendererView;
      }
    }

    return [
      AllRows,
      PlainRenderer,
      SteadyRenderer,
      StreamBars,
      StreamMoves,
      StreamTails,
      StreamHover,
      RunTimeTickFormatter,
      WordedTickFormatter,
      RowsWheelTool,
      StretchTool
    ];
  }

  /** True for a BokehJS that we draw with; a page of Lab may hold older ones, of other notebooks. */
  function isOurs(bokeh) {
    const [major, minor] = String(bokeh?.version).split('.').map(Number);
    return major > 3 || (major === 3 && minor >= 8);
  }

  const page = globalThis.Bokeh;
  // BokehJS is the page's Bokeh itself, or one of several under their version numbers, or both.
  const numbers = Object.keys(page ?? {}).filter(name => /^\d/.test(name));
  const versions = [page, ...numbers.map(number => page[number])];
  for (const bokeh of new Set(versions)) {
    if (!isOurs(bokeh)) {
      continue;
    }
    const { default_resolver: known, register_models: register } = bokeh.require('base');
    // A page may hold those of an older version of this script, from another kernel.
    register(modelsOf(bokeh).filter(model => known.get(`${MODULE}.${model.__name__}`) == null));
  }
})();
