import { RunsModel } from '../dashboards/runs';
import { PlotStream } from '../transport/stream';
import { dashboard, DashboardList, RUN, trans } from './dashboards';
import { FakeTransport } from './plots';

/** A dashboard's stream as the page has it, and what comes and goes on it. */
class Far extends FakeTransport {
  readonly stream = new PlotStream(this.connect, trans);

  tell(runs: readonly object[]): void {
    this.say({ type: 'runs', runs });
  }

  /** What was said of runs, or of what all plots show. */
  get followed(): unknown[] {
    return (this.sent as Record<string, unknown>[]).map(one => [one['wanted'], one['closely']]);
  }
}

function watched(): { far: Far; list: DashboardList; runs: RunsModel } {
  const far = new Far();
  const list = new DashboardList();
  list.set(dashboard({ id: 'one', kernel_id: 'k1' }));
  const remote = { get: () => Promise.resolve(null), url: String, stream: far.stream };
  return { far, list, runs: new RunsModel(list, { relayed: () => remote }) };
}

it('runs are followed while somebody looks, and by the one who looks closest', () => {
  const { far, runs } = watched();
  runs.watch('status', ['one'], 'slowly');
  runs.watch('sidebar', ['one'], 'closely');
  runs.watch('sidebar', [], 'closely');
  expect(far.followed).toEqual([
    [true, false],
    [true, true],
    [true, false]
  ]);
  far.tell([RUN]);
  expect(runs.of('one')).toEqual([RUN]);
  runs.watch('status', [], 'slowly');
  expect([far.connections, far.isOpen]).toEqual([1, false]);
});

it('a connection that ends at once is tried again ever later, one that lasted soon', () => {
  jest.useFakeTimers();
  const { far, runs } = watched();
  runs.watch('sidebar', ['one'], 'closely');
  const waits = [0, 0, 20_000, 0].map(lasts => {
    far.tell([RUN]);
    jest.advanceTimersByTime(lasts);
    const before = Date.now();
    far.end('it is gone');
    jest.advanceTimersToNextTimer();
    return (Date.now() - before) / 1000;
  });
  expect(waits).toEqual([5, 10, 5, 10]);
  jest.useRealTimers();
});

it('runs are not followed closely while the page is hidden', () => {
  const { far, runs } = watched();
  const hidden = jest.spyOn(document, 'hidden', 'get');
  runs.watch('sidebar', ['one'], 'closely');
  for (const isHidden of [true, false]) {
    hidden.mockReturnValue(isHidden);
    document.dispatchEvent(new Event('visibilitychange'));
  }
  expect(far.followed).toEqual([
    [true, true],
    [true, false],
    [true, true]
  ]);
  hidden.mockRestore();
});

it('a cluster that is gone is followed no more', () => {
  const { far, list, runs } = watched();
  runs.watch('sidebar', ['one'], 'closely');
  list.set();
  expect(far.isOpen).toBe(false);
});

it('a run is shown by all plots, also by those of a connection that was cut, until live is asked for', () => {
  jest.useFakeTimers();
  const { far, runs } = watched();
  runs.watch('sidebar', ['one'], 'closely');
  runs.select('one', 3);
  expect(runs.selected('one')).toBe(3);
  far.sent.length = 0;
  far.end('gone');
  jest.advanceTimersByTime(6000);
  expect(far.sent).toEqual([
    { type: 'period', run: 3 },
    { type: 'runs', wanted: true, closely: true }
  ]);
  far.stream.select(null); // as the pill of a pane does
  expect(runs.selected('one')).toBeUndefined();
  jest.useRealTimers();
});

it('two runs are marked that are compared, unless the plots show one', () => {
  const { runs } = watched();
  runs.watch('sidebar', ['one'], 'closely');
  const marked = (): number[] => [1, 2, 3].filter(run => runs.isShown('one', run));
  const by = {};
  runs.setCompared(
    [1, 3].map(run => ['one', run]),
    by
  );
  expect(marked()).toEqual([1, 3]);
  expect([2, 3].map(run => runs.besides('one', run)?.[1])).toEqual([3, 1]);
  runs.select('one', 2);
  expect(marked()).toEqual([2]);
  runs.select('one', null);
  runs.forgetCompared({});
  expect(marked()).toEqual([1, 3]);
  runs.forgetCompared(by);
  expect(marked()).toEqual([]);
});

it('what is no list of runs is refused', () => {
  const { far, runs } = watched();
  const told = jest.fn();
  Object.assign(globalThis, { reportError: told });
  runs.watch('sidebar', ['one'], 'closely');
  far.tell([{ ...RUN, state: 'odd' }]);
  expect(told).toHaveBeenCalled();
  expect(runs.of('one')).toEqual([]);
});

it('the status bar has the last run of a cell, unless it was brief', () => {
  const { far, runs } = watched();
  runs.watch('status', ['one'], 'slowly');
  far.tell([{ ...RUN, number: 4, cell: '' }, RUN]);
  expect(runs.lastOf('one')?.number).toBe(3);
  far.tell([{ ...RUN, stop: 101 }]);
  expect(runs.lastOf('one')).toBeUndefined();
});
