/** A layout in the room there is. */

import { fitted, readableWidth, type ISurroundings, type ITakenPlace } from '../model/fitting';
import { stacked, STATUS_PAGE, USUAL_FOUR, type ILayoutStep } from '../model/layout';

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

describe('a layout beside a notebook', () => {
  const cpu = { id: 'pane of cpu', width: 530, height: 820 };
  const around = (values: Partial<ISurroundings>): ISurroundings => ({
    notebook: 'notebook',
    notebookWidth: readableWidth(1070),
    places: [cpu],
    open: new Map(),
    ...values
  });
  const laid = (layout: readonly ILayoutStep[], width: number, values = {}): string[] =>
    fitted(layout, { width, height: 820 }, around(values)).map(({ mode, at, ref }) =>
      [mode, ref ?? at].join(' ')
    );
  const FOUR = [
    'tab-after pane of cpu',
    'split-bottom task-stream',
    'split-right task-stream',
    'split-right workers-memory'
  ];

  it('takes the place of panes that are there where the notebook would be too narrow', () => {
    expect(laid(USUAL_FOUR, 530)).toEqual(FOUR);
    expect(laid(USUAL_FOUR, 799)).toEqual(FOUR);
    expect(laid(USUAL_FOUR, 800)[0]).toBe('split-right ');
    const low = { places: [{ ...cpu, height: 300 }] };
    expect(laid(USUAL_FOUR, 530, low)).toEqual([
      'tab-after pane of cpu',
      'tab-after task-stream',
      'split-right task-stream',
      'tab-after progress'
    ]);
  });

  it('leaves a notebook 400 px, or 40 % of a main area that is narrow', () => {
    expect([readableWidth(2000), readableWidth(700)]).toEqual([400, 280]);
    expect(laid(USUAL_FOUR, 600, { notebookWidth: readableWidth(700) })[0]).toBe('split-right ');
    expect(laid(USUAL_FOUR, 550, { notebookWidth: readableWidth(700) })[0]).toBe(FOUR[0]);
  });

  it('goes below a narrow notebook that has no panes beside it, where that is high enough', () => {
    const alone = { places: [] };
    expect(laid(USUAL_FOUR, 530, alone)[0]).toBe('split-bottom ');
    const low = fitted(USUAL_FOUR, { width: 530, height: 300 }, around(alone));
    expect(low[0]?.mode).toBe('split-right');
  });

  it('goes on from panes of its own that are open, in the room that these have', () => {
    const open = new Map([['task-stream', cpu]]);
    expect(laid(USUAL_FOUR, 1000, { open }).slice(1)).toEqual(FOUR.slice(1));
    const narrow = new Map([['task-stream', { ...cpu, id: 'elsewhere', width: 500 }]]);
    expect(laid(USUAL_FOUR, 1000, { open: narrow })[2]).toBe('split-right pane of cpu');
  });

  const moved = (layout: readonly ILayoutStep[], width: number, values = {}): string[] =>
    fitted(layout, { width, height: 820 }, around(values)).flatMap(({ plot, isMoved }) =>
      isMoved === true ? plot : []
    );

  it('takes a pane of its own out of the tabs of the notebook, which hides it', () => {
    const open = new Map([['task-stream', { id: 'notebook', width: 530, height: 820 }]]);
    expect(laid(USUAL_FOUR, 530, { open })).toEqual(FOUR);
    expect(moved(USUAL_FOUR, 530, { open })).toEqual(['task-stream']);
  });

  it('leaves one pane in each place, and has the others where they belong', () => {
    const open = new Map(['graph', 'progress', 'workers-memory'].map(plot => [plot, cpu]));
    const elsewhere = { ...cpu, id: 'elsewhere' };
    expect(laid(USUAL_FOUR, 1100, { open })).toEqual(['split-right ', ...FOUR.slice(1)]);
    expect(moved(USUAL_FOUR, 1100, { open })).toEqual(['progress', 'graph']);
    open.set('graph', elsewhere);
    expect(moved(USUAL_FOUR, 1100, { open })).toEqual(['progress']);
  });

  it('goes to other places of panes where its own is too small, and hides what is not of it', () => {
    const small = (id: string): ITakenPlace => ({ id, width: 300, height: 200 });
    const places = ['A', 'B', 'C', 'D'].map(small);
    const open = new Map(['task-stream', 'progress'].map(plot => [plot, small('A')]));
    const steps = ['tab-after B', 'tab-after C', 'tab-after D'];
    expect(laid(USUAL_FOUR, 1000, { open, places }).slice(1)).toEqual(steps);
    const large = { ...small('L'), width: 600, height: 410 };
    open.set('progress', large);
    const divided = ['split-bottom L', FOUR[2], FOUR[3]];
    expect(laid(USUAL_FOUR, 1000, { open, places: [large, ...places] }).slice(1)).toEqual(divided);
  });

  it('takes a pane out of a place that an earlier one came to', () => {
    const open = new Map([['workers-memory', cpu]]);
    expect(laid(USUAL_FOUR, 530, { open })).toEqual(FOUR);
    expect(moved(USUAL_FOUR, 530, { open })).toEqual(['workers-memory']);
  });

  it('goes on from the notebook where a pane is to be a tab of that', () => {
    const both: readonly ILayoutStep[] = [
      { plot: 'task-stream', mode: 'tab-after', at: '' },
      { plot: 'progress', mode: 'split-right', at: 'task-stream' }
    ];
    expect(laid(both, 530)[1]).toBe('tab-after pane of cpu');
    expect(laid(both, 1000)[1]).toBe('split-right task-stream');
  });

  it('has what else is placed at the notebook with the first panes beside it', () => {
    const both: readonly ILayoutStep[] = [
      { plot: 'task-stream', mode: 'split-right', at: '' },
      { plot: 'cpu', mode: 'split-left', at: '' },
      { plot: 'progress', mode: 'split-bottom', at: '' }
    ];
    const modes = ['split-right ', 'tab-after task-stream', 'split-bottom '];
    expect(laid(both, 900, { places: [] })).toEqual(modes);
    expect(laid(both, 900)).toEqual(modes);
  });
});
