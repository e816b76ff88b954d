/** Ticks, labels and tooltips of figures in the units of a plot's columns. */

import { model, type IBokehLibrary, type IModelClass, type Untyped } from './bokeh';
import { runTime, ticks, write, writeTick } from './units';

export function axisModels(bokeh: IBokehLibrary): readonly IModelClass[] {
  const { ContinuousTicker } = bokeh.require('models/tickers/continuous_ticker');
  const { TickFormatter } = bokeh.require('models/formatters/tick_formatter');
  const { LabelingPolicy } = bokeh.require('models/policies/labeling');
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

  /** Labels every tick, or every second, every third: the most that have room between them. */
  class EvenLabels extends LabelingPolicy {
    filter(indices: Untyped, _boxes: unknown, distance: (i: number, j: number) => number): object {
      const all: readonly number[] = [...indices];
      const kept = (step: number): number[] => all.filter((_, at) => at % step === 0);
      const fits = (some: readonly number[]): boolean =>
        some.every((one, at) => at === 0 || distance(some[at - 1]!, one) >= this.min_distance);
      const step = all.findIndex((_, at) => fits(kept(at + 1))) + 1;
      all.filter((_, at) => at % step > 0).forEach(one => indices.unset(one));
      return indices;
    }
  }

  return [
    model('EvenLabels', EvenLabels, undefined, ({ Float }: Untyped) => ({
      min_distance: [Float, 6]
    })),
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
