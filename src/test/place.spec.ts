import { nextPlace, type ISpot } from '../model/place';

function spot(values: Partial<ISpot>): ISpot {
  const base = { id: 'a', tabs: 1, barWidth: 800, width: 800, height: 600, isLast: true };
  return { ...base, ...values };
}

describe('the place of a further pane', () => {
  it('is behind the one used last while titles can be read', () => {
    expect(nextPlace([])).toBeNull();
    const spots = [spot({ tabs: 7 }), spot({ id: 'b', isLast: false })];
    expect(nextPlace(spots)).toEqual({ mode: 'tab-after', ref: 'a' });
  });

  it('is where there is room, when tabs get narrow', () => {
    const spots = [spot({ tabs: 8 }), spot({ id: 'b', tabs: 3, isLast: false })];
    expect(nextPlace(spots)).toEqual({ mode: 'tab-after', ref: 'b' });
  });

  it('is a new one when all are full, below or beside by the shape of the largest', () => {
    expect(nextPlace([spot({ tabs: 8 })])).toEqual({ mode: 'split-bottom', ref: 'a' });
    const wide = spot({ tabs: 8, width: 1600, barWidth: 800 });
    expect(nextPlace([wide])).toEqual({ mode: 'split-right', ref: 'a' });
  });

  it('stays among the tabs where a half would be too small for a plot', () => {
    const small = { width: 500, height: 380, barWidth: 500 };
    const spots = [
      spot({ tabs: 9, ...small }),
      spot({ id: 'b', tabs: 6, isLast: false, ...small })
    ];
    expect(nextPlace(spots)).toEqual({ mode: 'tab-after', ref: 'b' });
  });
});
