/** Ticks, labels and tooltips of figures in the units of a plot's columns. */

import { modelsOf, type IBokehLibrary, type IModelClass, type Untyped } from './bokeh';
import { ticks, write, writeTick } from './ticks';

const model = modelsOf('dask_diag_lab.views.models');

export function unitModels(bokeh: IBokehLibrary): readonly IModelClass[] {
  const { ContinuousTicker } = bokeh.require('models/tickers/continuous_ticker');
  const { TickFormatter } = bokeh.require('models/formatters/tick_formatter');
  const { CustomJSHover } = bokeh.require('models/tools/inspectors/customjs_hover');

  /** Round numbers of a unit, from 0 to the end of an axis. */
  class UnitTicker extends ContinuousTicker {
    get_min_interval(): number {
      return 0;
    }

    get_max_interval(): number {
      return Infinity;
    }

    get_interval(low: number, high: number, wanted: number): number {
      const [first = 0, second = high - low] = ticks(this.unit, high, wanted);
      return second - first;
    }

    get_ticks_no_defaults(low: number, high: number, _at: unknown, wanted: number): object {
      return { major: ticks(this.unit, high, wanted).filter(tick => tick >= low), minor: [] };
    }
  }

  class UnitTickFormatter extends TickFormatter {
    doFormat(values: readonly number[]): string[] {
      return values.map(value => writeTick(this.unit, value));
    }
  }

  /** A value in its unit, behind a label; with the band from lowest to highest where there is one. */
  class UnitHover extends CustomJSHover {
    format(value: number, _format: string, { index }: Untyped): string {
      const column = (name: string): number => this.source?.get_column(name)?.[index] ?? NaN;
      const [low, high] = [column(this.low), column(this.high)];
      const text = `${this.label} ${write(this.unit, value)}`.trim();
      return low < high ? `${text} (${write(this.unit, low)} to ${write(this.unit, high)})` : text;
    }
  }

  const unit = ({ Str }: Untyped): object => ({ unit: [Str, 'number'] });
  return [
    model('UnitTicker', UnitTicker, undefined, unit),
    model('UnitTickFormatter', UnitTickFormatter, undefined, unit),
    model('UnitHover', UnitHover, undefined, ({ AnyRef, Nullable, Str }: Untyped) => ({
      unit: [Str, 'number'],
      label: [Str, ''],
      source: [Nullable(AnyRef()), null],
      low: [Str, ''],
      high: [Str, '']
    }))
  ];
}
