/** What bar charts write where there is little room. */

import { barModels } from '../models/barchart';

interface IView {
  initialize(): void;
  paint(ctx: object, width: number, height: number): void;
}

type Columns = Readonly<Record<string, readonly unknown[]>>;

/** What is written in a picture of that width, where each letter takes 6 pixels. */
function written(columns: Columns, given: object, width: number): readonly string[] {
  const level = { color: '', sign: '', hatch: '' };
  const spec = {
    ...{ label: 'name', unit: 'seconds', levels: [level], marks: [], columns: [] },
    ...{ end: 0, merging: 'auto', order: 'own', merges: 'none', ...given }
  };
  class View {
    readonly model = {
      spec: JSON.stringify(spec),
      source: { get_column: (name: string) => columns[name] }
    };
    readonly canvas = document.createElement('canvas');
    readonly scroller = { scrollTop: 0 };
    readonly font = (): string => '11px sans-serif';
    readonly column = (name: string): readonly unknown[] => columns[name] ?? [];
    readonly set_hidden_height = (): void => undefined;
    initialize(): void {
      this.scroller.scrollTop = 0;
    }
  }
  const CanvasChart = Object.assign(class extends Object {}, { define: () => undefined });
  Object.assign(CanvasChart.prototype, { default_view: View });
  const [BarChart] = barModels({ require: () => ({}) }, CanvasChart);
  const { prototype } = BarChart as unknown as { prototype: { default_view: new () => IView } };
  const view = new prototype.default_view();
  const texts: string[] = [];
  const drawing: Record<string, unknown> = {
    measureText: (text: string) => ({ width: 6 * text.length }),
    fillText: (text: string) => texts.push(text)
  };
  const ctx = new Proxy(drawing, { get: (of, name: string) => of[name] ?? (() => undefined) });
  view.initialize();
  view.paint(ctx, width, 300);
  return texts;
}

const seconds = (name: string, sign = ''): object => ({ name, sign, unit: 'seconds' });

it('a comparison keeps the difference where there is no room for both values', () => {
  const columns = { name: ['Whole run'], before: [1.2], after: [4.5], remark: ['+3.30 s'] };
  const spec = {
    parts: [{ column: 'before' }, { column: 'after' }],
    value: [seconds('before'), seconds('after', '→')],
    ...{ is_split: true, keeps: 'remark' }
  };
  expect(written(columns, spec, 900)).toContain('1.20 s  → 4.50 s · +3.30 s');
  expect(written(columns, spec, 320)).toContain('+3.30 s');
});

it('long texts stand above bars that have no room beside them', () => {
  const name = '[2] client.gather(client.map(load, files))';
  const remark = 'tasks are too short: up to 3.20 s';
  const columns = { name: [name], took: [8.48], remark: [remark] };
  const spec = { parts: [{ column: 'took' }], value: [seconds('took')], keeps: 'all' };
  const value = `8.48 s · ${remark}`;
  expect(written(columns, spec, 900)).toEqual(expect.arrayContaining([name, value]));
  const narrow = written(columns, spec, 400);
  expect(narrow).toContain(value);
  expect(narrow).toContainEqual(expect.stringMatching(/^\[2\] cli.*…$/));
});
