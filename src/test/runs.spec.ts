import { Widget } from '@lumino/widgets';

import type { RunsModel } from '../dashboards/runs';
import type { IRun } from '../protocol/dashboard';
import { CommandIDs } from '../tokens';
import { PlotStream, type IReceiver } from '../transport/stream';
import { statusItem } from '../widgets/status';
import { dashboard, DashboardList, trans } from './dashboards';
import { services } from './services';

const RUN: IRun = {
  number: 3,
  name: 'x.compute()',
  cell: 'c1',
  count: 12,
  is_own: true,
  state: 'done',
  start: 100,
  stop: 142,
  tasks: 10,
  submitted: 10,
  failed: 0,
  offered_s: 168,
  budget: { computing: 65 },
  findings: 1,
  line: '42.0 s · 61 % idle'
};

/** A dashboard's stream as the page has it, and what comes and goes on it. */
class Far {
  sent: Record<string, unknown>[] = [];
  opened = 0;
  closed = 0;
  receiver: IReceiver | null = null;
  readonly stream = new PlotStream(receiver => {
    this.receiver = receiver;
    this.opened += 1;
    return {
      send: text => void this.sent.push(JSON.parse(text) as Record<string, unknown>),
      close: () => void (this.closed += 1)
    };
  }, trans);

  tell(runs: readonly object[]): void {
    const head = new TextEncoder().encode(JSON.stringify([{ type: 'runs', runs }]));
    const frame = new Uint8Array(4 + head.length);
    new DataView(frame.buffer).setUint32(0, head.length, true);
    frame.set(head, 4);
    this.receiver?.onFrame(frame.buffer);
  }
}

function watched(): {
  far: Far;
  list: DashboardList;
  runs: RunsModel;
  given: ReturnType<typeof services>;
} {
  const far = new Far();
  const list = new DashboardList();
  list.set(dashboard({ id: 'one', kernel_id: 'k1' }));
  const remote = { get: () => Promise.resolve(null), url: String, stream: far.stream };
  const given = services(list, { relayed: () => remote });
  return { far, list, runs: given.runs, given };
}

it('runs are followed while somebody looks, and by the one who looks closest', () => {
  const { far, runs } = watched();
  runs.watch('status', ['one'], 'slowly');
  runs.watch('sidebar', ['one'], 'closely');
  runs.watch('sidebar', [], 'closely');
  expect(far.sent.map(one => [one['wanted'], one['closely']])).toEqual([
    [true, false],
    [true, true],
    [true, false]
  ]);
  far.tell([RUN]);
  expect(runs.of('one')).toEqual([RUN]);
  runs.watch('status', [], 'slowly');
  expect([far.opened, far.closed]).toEqual([1, 1]);
});

it('a cluster that is gone is followed no more', () => {
  const { far, list, runs } = watched();
  runs.watch('sidebar', ['one'], 'closely');
  list.set();
  expect(far.closed).toBe(1);
});

it('a run is shown by all plots, also by those of a connection that was cut, until live is asked for', () => {
  jest.useFakeTimers();
  const { far, runs } = watched();
  runs.watch('sidebar', ['one'], 'closely');
  runs.select('one', 3);
  expect(runs.selected('one')).toBe(3);
  far.sent = [];
  far.receiver?.onClose('gone');
  jest.advanceTimersByTime(6000);
  expect(far.sent).toEqual([
    { type: 'period', run: 3 },
    { type: 'runs', wanted: true, closely: true }
  ]);
  far.stream.select(null); // as the pill of a pane does
  expect(runs.selected('one')).toBeUndefined();
  jest.useRealTimers();
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

it('the status bar has the last run of a cell, unless it was brief, and shows it at a click', async () => {
  const { far, list, runs, given } = watched();
  const asked: unknown[] = [];
  given.commands.addCommand(CommandIDs.showRun, { execute: args => void asked.push(args) });
  runs.watch('status', ['one'], 'slowly');
  far.tell([{ ...RUN, number: 4, cell: '' }, RUN]);
  const item = statusItem({
    services: given,
    changed: runs.changed,
    inFront: () => list.all,
    onWarning: () => undefined
  });
  Widget.attach(item, document.body);
  await item.renderPromise;
  const button = item.node.querySelectorAll('button')[1]!;
  expect(button.textContent).toBe('cell [12]: 42.0 s · 61 % idle');
  button.click();
  expect(asked).toEqual([{ dashboard: 'one', run: 3 }]);
  far.tell([{ ...RUN, stop: 101 }]);
  expect(runs.lastOf('one')).toBeUndefined();
  item.dispose();
});
