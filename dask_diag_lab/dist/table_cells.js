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

  const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
  const DECIMAL = ['', 'k', 'M', 'G', 'T', 'P'];

  /** As toFixed, but of two numbers that are equally near the even one, as in Python. */
  function fixed(value, digits) {
    const text = value.toFixed(digits);
    // A hundred digits, the most there are, write a number of this size exactly.
    const rest = value.toFixed(100).split('.')[1] ?? '';
    const last = Number(text.at(-1));
    // toFixed went away from zero: the even one is that before an odd one.
    const isWrong = /^50*$/.test(rest.slice(digits)) && last % 2 === 1;
    return isWrong ? `${text.slice(0, -1)}${last - 1}` : text;
  }

  /** Three significant digits, as `significant` of views/format.py. */
  function significant(value) {
    const digits = value === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
    const text = fixed(value, digits);
    // 9.996 rounds to 10.0, not to 10.00.
    const isLong = text.replace(/[-.]/g, '').replace(/^0+/, '').length > 3;
    return isLong && digits > 0 ? fixed(value, digits - 1) : text;
  }

  /** A size in words, as `binary` and `si` of views/format.py. */
  function sizeInWords(value, unit, isBinary) {
    const [names, base] = isBinary ? [BINARY, 1024] : [DECIMAL, 1000];
    let step = 0;
    for (; Math.abs(value) >= 999.5 && step < names.length - 1; step++) {
      value /= base;
    }
    const number = isBinary && step === 0 ? fixed(value, 0) : significant(value);
    return `${number} ${names[step]}${unit}`;
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

    /** A number of bytes, or of bytes a second, in the words of all plots; 0 has its unit, too. */
    class SizeCell extends StringFormatter {
      static {
        this.__module__ = MODULE;
        this.__name__ = 'SizeCell';
        this.define(({ Bool, Str }) => ({ unit: [Str, 'B'], is_binary: [Bool, true] }));
      }

      doFormat(row, cell, value, column, data) {
        if (typeof value === 'number') {
          // Nothing else than a number that is none gets the words of the table for that.
          value = Number.isFinite(value) ? sizeInWords(value, this.unit, this.is_binary) : NaN;
        }
        return super.doFormat(row, cell, value, column, data);
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

    return [TextCell, SizeCell, SteadyColumn];
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
