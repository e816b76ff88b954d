/* The browser side of views/table_cells.py. Runs after Bokeh's own tables, which not every page has;
 * adds the models to every version of BokehJS that has them and lacks ours.
 */
(() => {
  'use strict';

  const MODULE = 'dask_diag_lab.views.table_cells';
  /** Characters of an index that stay in sight; a longer one keeps its end. */
  const LONGEST_INDEX = 24;
  const SHORTEST_END = 6;
  /** Keys up to this length fit into any of our columns, and stay in one piece for who copies them. */
  const FITS = 20;
  /** Of its width a column gives up no more, so that a scroll bar has room. */
  const LEAST_SHARE = 0.8;

  /** How many characters at the end of a key tell it from others: `', 12, 5)` of a tuple. */
  function endOf(key) {
    const index = /['"](?:, [^'"]*)?\)$/.exec(key)?.[0].length ?? 0;
    return 0 < index && index <= LONGEST_INDEX ? index : SHORTEST_END;
  }

  function span(text) {
    const made = document.createElement('span');
    made.textContent = text;
    return made;
  }

  function modelsOf(bokeh) {
    const { StringFormatter } = bokeh.require('models/widgets/tables/cell_formatters');
    const { TableColumn } = bokeh.require('models/widgets/tables/table_column');

    /** Text with all of it as the tooltip; with `keeps_end` the middle gives way, not the end. */
    class TextCell extends StringFormatter {
      static {
        this.__module__ = MODULE;
        this.__name__ = 'TextCell';
        this.define(({ Bool }) => ({ keeps_end: [Bool, false] }));
      }

      doFormat(row, cell, value, column, data) {
        const around = document.createElement('div');
        around.innerHTML = super.doFormat(row, cell, value, column, data);
        const shown = around.firstElementChild;
        const text = shown.textContent;
        shown.title = text;
        if (this.keeps_end && text.length > FITS) {
          const end = text.length - endOf(text);
          shown.className = 'ddl-ends';
          shown.replaceChildren(span(text.slice(0, end)), span(text.slice(end)));
        }
        return shown.outerHTML;
      }
    }

    /** Keeps its share of the width: a grid that was laid out unseen has all columns alike. */
    class SteadyColumn extends TableColumn {
      static {
        this.__module__ = MODULE;
        this.__name__ = 'SteadyColumn';
      }

      toColumn() {
        return { ...super.toColumn(), minWidth: Math.floor(LEAST_SHARE * this.width) };
      }
    }

    return [TextCell, SteadyColumn];
  }

  /** True for a BokehJS that we draw with; a page of Lab may hold older ones, of other notebooks. */
  function isOurs(bokeh) {
    const [major, minor] = String(bokeh?.version).split('.').map(Number);
    return major > 3 || (major === 3 && minor >= 8);
  }

  const page = globalThis.Bokeh;
  const numbers = Object.keys(page ?? {}).filter(name => /^\d/.test(name));
  for (const bokeh of new Set([page, ...numbers.map(number => page[number])])) {
    if (!isOurs(bokeh)) {
      continue;
    }
    const { default_resolver: known, register_models: register } = bokeh.require('base');
    if (known.get('StringFormatter') != null) {
      // A page may hold those of an older version of this script, from another kernel.
      register(modelsOf(bokeh).filter(model => known.get(`${MODULE}.${model.__name__}`) == null));
    }
  }
})();
