/** Sizes in tables are written as in every other place: by the cases that Python's side has, too. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../..');
const CASES = JSON.parse(
  readFileSync(join(ROOT, 'tests/contract/fixtures/format.json'), 'utf8')
) as Record<'bytes' | 'rate', [number, string][]>; // written by us

interface ICell {
  unit: string;
  is_binary: boolean;
  doFormat(row: number, cell: number, value: unknown, column: object, data: object): unknown;
}

/** Runs the script beside a BokehJS that shows text as it is, and returns a new cell. */
function sizeCell(unit: string, isBinary: boolean): ICell {
  class Formatter {
    static define(): void {
      return;
    }
    doFormat(_row: number, _cell: number, value: unknown): unknown {
      return value;
    }
  }
  const models: { __name__: string; new (): ICell }[] = [];
  const page: { Bokeh?: unknown } = window as object; // nobody else's type of it is here
  page.Bokeh = {
    version: '3.9.2',
    require: (module: string): object =>
      module === 'base'
        ? {
            default_resolver: { get: (name: string) => (name === 'StringFormatter' ? {} : null) },
            register_models: (found: typeof models) => models.push(...found)
          }
        : { StringFormatter: Formatter, TableColumn: Formatter }
  };
  jest.isolateModules(() => void jest.requireActual('../models/tables'));
  delete page.Bokeh;
  const Model = models.find(model => model.__name__ === 'SizeCell');
  if (Model === undefined) {
    throw new Error('the script has no SizeCell');
  }
  return Object.assign(new Model(), { unit, is_binary: isBinary });
}

describe('a size in a table', () => {
  it.each(CASES.bytes)('of %d is %s', (value, text) => {
    expect(sizeCell('B', true).doFormat(0, 0, value, {}, {})).toBe(text);
  });

  it.each(CASES.rate)('a second of %d is %s', (value, text) => {
    expect(sizeCell('B/s', false).doFormat(0, 0, value, {}, {})).toBe(text);
  });

  it('that is not known is left to the words for that', () => {
    expect(sizeCell('B', true).doFormat(0, 0, NaN, {}, {})).toBeNaN();
    expect(sizeCell('B', true).doFormat(0, 0, null, {}, {})).toBeNull();
    // The words for what is no number, not “Infinity”.
    expect(sizeCell('B', true).doFormat(0, 0, Infinity, {}, {})).toBeNaN();
  });
});
