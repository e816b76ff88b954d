import { doneOfAll, gridOf } from '../models/progress';

describe('bars of progress', () => {
  it('go below each other, then side by side, then are scrolled', () => {
    expect(gridOf(3, 860, 400)).toMatchObject({ columns: 1, rows: 3 });
    expect(gridOf(20, 860, 400)).toMatchObject({ columns: 2, rows: 10 });
    const { rows, rowPx } = gridOf(100, 450, 200);
    expect(rows * rowPx).toBeGreaterThan(200);
  });

  it('tell failures as long as there is any room, and never too early that all is done', () => {
    expect(doneOfAll(5, 10, 0)).toEqual(['5 / 10', '50 %']);
    expect(doneOfAll(5, 10, 2)).toEqual(['2 erred · 5 / 10', '2 erred · 50 %', '⚠ 50 %']);
    expect(doneOfAll(9_999, 10_000, 0)[1]).toBe('99 %');
  });
});
