/** A layout in the room there is. */

import { fitted, stacked, STATUS_PAGE, USUAL_FOUR, type ILayoutStep } from '../model/layout';

describe('a layout', () => {
  it('is laid out as it is where there is room', () => {
    const room = { width: 1090, height: 850 };
    expect(fitted(STATUS_PAGE, room)).toEqual(STATUS_PAGE);
    expect(fitted(USUAL_FOUR, room)).toEqual(USUAL_FOUR);
  });

  it('has tabs where pictures would be too small, of what lies there already', () => {
    const steps = fitted(STATUS_PAGE, { width: 580, height: 510 });
    expect(steps.map(({ plot, mode, at }) => [plot, mode, at].join(' '))).toEqual([
      'task-stream split-right ',
      'workers-memory tab-after task-stream',
      'progress split-bottom task-stream',
      'nprocessing tab-after progress',
      'cpu tab-after nprocessing',
      'occupancy tab-after cpu',
      'workers-transfer-bytes tab-after occupancy',
      'cluster-memory tab-after workers-memory'
    ]);
    const folded = fitted(STATUS_PAGE, { width: 300, height: 200 }).slice(1);
    expect(folded.every(({ mode }) => mode === 'tab-after')).toBe(true);
  });

  it('of the status page has all its plots, and the task stream as the first tab of any place', () => {
    const all = 'task-stream progress workers-memory cluster-memory nprocessing cpu occupancy';
    const plots = STATUS_PAGE.map(({ plot }) => plot);
    expect(new Set(plots)).toEqual(new Set([...all.split(' '), 'workers-transfer-bytes']));
    expect(plots[0]).toBe('task-stream');
  });

  it('leaves each pane of a place that is split 260 by 180 px, without the tabs above it', () => {
    const four = (width: number, height: number): string[] =>
      fitted(USUAL_FOUR, { width, height }).map(({ mode }) => mode);
    expect(four(1040, 386)).toEqual(USUAL_FOUR.map(({ mode }) => mode));
    expect(four(1039, 386)).toEqual(['split-right', 'split-bottom', 'tab-after', 'tab-after']);
    expect(four(1040, 385)).toEqual(['split-right', 'tab-after', 'split-right', 'tab-after']);
    const low = fitted(USUAL_FOUR, { width: 1040, height: 385 });
    expect(low.map(({ at }) => at)).toEqual(['', 'task-stream', 'task-stream', 'progress']);
  });

  it('is left alone where nobody knows how much room there is', () => {
    expect(fitted(STATUS_PAGE, { width: 0, height: 0 })).toBe(STATUS_PAGE);
  });

  it('has one below the other on a board, which the first one fills while it is empty', () => {
    const on = (isEmpty: boolean): string[] =>
      fitted(stacked(USUAL_FOUR, isEmpty), { width: 320, height: 800 }).map(({ mode }) => mode);
    expect(on(true)).toEqual(['tab-after', 'split-bottom', 'split-bottom', 'split-bottom']);
    expect(on(false)).toEqual(['split-bottom', 'split-bottom', 'tab-after', 'tab-after']);
  });

  it('has what else is placed at the notebook below the first pane of a board', () => {
    const both: readonly ILayoutStep[] = [
      { plot: 'task-stream', mode: 'split-right', at: '' },
      { plot: 'progress', mode: 'split-bottom', at: '' },
      { plot: 'cpu', mode: 'split-left', at: '' }
    ];
    const placed = (isEmpty: boolean): string[] =>
      stacked(both, isEmpty).map(({ mode, at }) => `${mode} ${at}`);
    const below = ['split-bottom task-stream', 'split-bottom task-stream'];
    expect(placed(true)).toEqual(['tab-after ', ...below]);
    expect(placed(false)).toEqual(['split-bottom ', ...below]);
  });
});
