/** A layout in the room there is. */

import { fitted, STATUS_PAGE, USUAL_FOUR } from '../model/layout';

describe('a layout', () => {
  const modes = (width: number, height: number): string[] =>
    fitted(STATUS_PAGE, { width, height }).map(({ plot, mode }) => `${plot} ${mode}`);

  it('is laid out as it is where there is room', () => {
    const room = { width: 1090, height: 850 };
    expect(fitted(STATUS_PAGE, room)).toEqual(STATUS_PAGE);
    expect(fitted(USUAL_FOUR, room)).toEqual(USUAL_FOUR);
  });

  it('has tabs where pictures would be too small', () => {
    expect(modes(620, 520)).toEqual([
      'workers-memory split-right',
      'task-stream tab-after',
      'progress split-bottom',
      'nprocessing tab-after',
      'cpu tab-after',
      'occupancy tab-after',
      'cluster-memory tab-after'
    ]);
    expect(
      modes(300, 200)
        .slice(1)
        .every(step => step.endsWith('tab-after'))
    ).toBe(true);
  });

  it('is left alone where nobody knows how much room there is', () => {
    expect(fitted(STATUS_PAGE, { width: 0, height: 0 })).toBe(STATUS_PAGE);
  });
});
