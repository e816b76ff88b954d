/** The browser side of views/table_cells.py; a script of its own since not every page has tables. */

import { h } from '../text';
import { modelsOf, register, type IBokehLibrary, type IModelClass, type Untyped } from './bokeh';
import { write } from './units';

/** Characters of an index that are never cut; a longer one keeps its end. */
const LONGEST_INDEX = 24;
const SHORTEST_END = 6;
/** Keys up to this length fit into any of our columns, and stay in one piece for copying. */
const FITS = 20;
/** Of its width a column gives up no more, so that a scroll bar fits. */
const LEAST_SHARE = 0.8;

/** How many characters at the end of a key tell it from others: `', 12, 5)` of a tuple. */
function endOf(key: string): number {
  const index = /['"](?:, [^'"]*)?\)$/.exec(key)?.[0].length ?? 0;
  return 0 < index && index <= LONGEST_INDEX ? index : SHORTEST_END;
}

const cell = modelsOf('table_cells');

function tableModels(bokeh: IBokehLibrary): readonly IModelClass[] {
  const { StringFormatter } = bokeh.require('models/widgets/tables/cell_formatters');
  const { TableColumn } = bokeh.require('models/widgets/tables/table_column');

  /** Text with all of it as the tooltip; with `keeps_end` the middle gives way, not the end. */
  class TextCell extends StringFormatter {
    doFormat(row: number, cell: number, value: unknown, column: object, data: object): string {
      const around = document.createElement('div');
      around.innerHTML = super.doFormat(row, cell, value, column, data);
      const shown = around.firstElementChild as HTMLElement; // Bokeh's own span
      const text = shown.textContent ?? '';
      shown.title = text;
      if (this.keeps_end && text.length > FITS) {
        const end = text.length - endOf(text);
        shown.className = 'ddl-ends';
        const parts = [text.slice(0, end), text.slice(end)];
        shown.replaceChildren(...parts.map(part => h('span', {}, part)));
      }
      return shown.outerHTML;
    }
  }

  /** A number in its unit, as all plots write it. */
  class UnitCell extends StringFormatter {
    doFormat(row: number, cell: number, value: unknown, column: object, data: object): string {
      const shown = Number.isFinite(value) ? write(this.unit, value as number) : NaN; // it is one
      return super.doFormat(row, cell, shown, column, data);
    }
  }

  /** Keeps its share of the width: a grid that was laid out unseen has all columns alike. */
  class ShareColumn extends TableColumn {
    toColumn(): object {
      return {
        ...super.toColumn(),
        minWidth: Math.floor(LEAST_SHARE * this.width),
        headerCssClass: this.formatter instanceof UnitCell ? 'ddl-number' : null
      };
    }
  }

  return [
    cell('TextCell', TextCell, undefined, ({ Bool }: Untyped) => ({ keeps_end: [Bool, false] })),
    cell('UnitCell', UnitCell, undefined, ({ Str }: Untyped) => ({ unit: [Str, 'number'] })),
    cell('ShareColumn', ShareColumn)
  ];
}

register(tableModels, 'StringFormatter');
