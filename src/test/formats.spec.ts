/** Values are written as the kernel writes them; ticks are round; axes do not jump. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { axisEnd, ticks, write, writeTick, type Unit } from '../models/units';

const FIXTURE = join(__dirname, '../../tests/contract/fixtures/format.json');
const CASES = JSON.parse(readFileSync(FIXTURE, 'utf8')) as Record<string, [number, string][]>;

describe.each(Object.entries(CASES))('a value in %s', (unit, cases) => {
  it.each(cases)('%d is written as in Python', (value, text) => {
    expect(write(unit as Unit, value)).toBe(text);
  });
});

it('says what is not known', () => {
  expect(write('bytes', NaN)).toBe('unknown');
});

it.each<[Unit, number, number, readonly string[]]>([
  ['bytes', 640 * 2 ** 20, 5, ['0', '128 MiB', '256 MiB', '384 MiB', '512 MiB', '640 MiB']],
  ['percent', 800, 4, ['0', '200 %', '400 %', '600 %', '800 %']],
  ['seconds', 90, 3, ['0', '30 s', '1 min', '1 min 30 s']],
  ['count', 3, 6, ['0', '1', '2', '3']],
  ['rate', 3e8, 3, ['0', '100 MB/s', '200 MB/s', '300 MB/s']],
  ['number', 0, 5, ['0']]
])('has round ticks of %s up to %d', (unit, end, wanted, texts) => {
  expect(ticks(unit, end, wanted).map(tick => writeTick(unit, tick))).toEqual(texts);
});

it('ends an axis at a round number, which grows at once and shrinks late', () => {
  const end = axisEnd('count', 37, 0);
  expect(end).toBe(40);
  expect(axisEnd('count', 20, end)).toBe(40);
  expect(axisEnd('count', 41, end)).toBe(50);
  expect(axisEnd('count', 13, end)).toBe(15);
  expect(axisEnd('bytes', 70 * 2 ** 20, 0)).toBe(80 * 2 ** 20);
});
