/** Ticks, labels and tooltips of figures in the units of a plot's columns. */

import { model, type IBokehLibrary, type IModelClass, type Untyped } from './bokeh';
import { runTime, ticks, write, writeTick } from './units';

export function axisModels(bokeh: IBokehLibrary): readonly IModelClass[] {
  const { ContinuousTicker } = bokeh.require('models/tickers/continuous_ticker');
  const { TickFormatter } = bokeh.require('models/formatters/tick_formatter');
  const { CustomJSHover } = bokeh.require('models/tools/inspectors/customjs_hover');

  /** Round numbers of a unit, from 0 to the end of an axis. */
  class UnitTicker extends ContinuousTicker {
    get_ticks(_low: number, high: number): object {
      return { major: ticks(this.unit, high, this.desired_num_ticks), minor: [] };
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

  class RunTimeTickFormatter extends TickFormatter {
    doFormat(values: readonly number[]): string[] {
      return values.map(tick => runTime(tick, values));
    }
  }

  return [
    model('UnitTicker', UnitTicker, undefined, ({ Str }: Untyped) => ({ unit: [Str, 'number'] })),
    model('UnitTickFormatter', UnitTickFormatter, undefined, ({ Str }: Untyped) => ({
      unit: [Str, 'number']
    })),
    model('UnitHover', UnitHover, undefined, ({ AnyRef, Nullable, Str }: Untyped) => ({
      unit: [Str, 'number'],
      label: [Str, ''],
      source: [Nullable(AnyRef()), null],
      low: [Str, ''],
      high: [Str, '']
    })),
    model('RunTimeTickFormatter', RunTimeTickFormatter)
  ];
}
