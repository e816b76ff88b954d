import { Control } from '../protocol/control';
import { LivePlot } from '../plot/live';
import { english } from '../text';
import { FakeSession, THEME, settled } from './plots';

let sessions: FakeSession[];
let asked: string[];
let askedAt: number[];
let shownArguments: object[];
let failure: Error | null;
let firstState: string;
let plot: LivePlot;

beforeEach(() => {
  firstState = 'live';
  jest.useFakeTimers();
  sessions = [];
  asked = [];
  askedAt = [];
  shownArguments = [];
  failure = null;
  plot = new LivePlot({
    plot: 'progress',
    arguments: {},
    theme: THEME,
    trans: english,
    open: (dashboard, _plot, _theme, given) => {
      asked.push(dashboard);
      askedAt.push(Date.now());
      shownArguments.push(given);
      if (failure !== null) {
        return Promise.reject(failure);
      }
      const session = new FakeSession();
      session.control = new Control({ state: firstState });
      sessions.push(session);
      return Promise.resolve(session.asSession);
    }
  });
  document.body.append(plot.node);
  const context = { plotTitle: 'Progress', dashboardName: 'a.ipynb', blocker: null };
  plot.setContext(context, '', null);
});

afterEach(() => {
  plot.dispose();
  plot.node.remove();
  jest.useRealTimers();
});

async function open(dashboard = 'd1'): Promise<FakeSession> {
  plot.setTarget(dashboard);
  await settled();
  return sessions[sessions.length - 1]!;
}

function shown(name: string): string {
  const element = plot.node.querySelector<HTMLElement>(`.jp-DaskDiag-${name}`);
  return element === null || element.hidden ? '' : (element.textContent ?? '');
}

/** Hide the browser tab, or show it again. */
function setHidden(isHidden: boolean): void {
  Object.defineProperty(document, 'visibilityState', {
    configurable: true,
    value: isHidden ? 'hidden' : 'visible'
  });
  document.dispatchEvent(new Event('visibilitychange'));
}

it('draws its dashboard’s picture and says what the server says of it', async () => {
  const session = await open();
  expect(plot.node.dataset['state']).toBe('live');
  expect(shown('stage')).toBe('picture');
  expect(shown('title')).toBe('Progress');
  session.say({ headline: '3 of 4 done', note: 'all drawn', empty: '' });
  expect([shown('title'), shown('note')]).toEqual(['3\u00a0of 4\u00a0done', 'all drawn']);
});

it('tells the server when nobody sees it, and connects nothing unseen', async () => {
  const session = await open();
  setHidden(true);
  expect(session.isVisible).toBe(false);
  expect(plot.node.dataset['state']).toBe('paused');
  session.end();
  await jest.advanceTimersByTimeAsync(60_000);
  expect(asked).toHaveLength(1);
  setHidden(false);
  await settled();
  expect(asked).toHaveLength(2);
});

it('goes on trying, at growing intervals, and then has one session and no more', async () => {
  const first = await open();
  const lost = Date.now();
  failure = new Error('The kernel is busy.');
  first.end();
  await jest.advanceTimersByTimeAsync(180_000);
  const waits = [lost, ...askedAt.slice(1)].map((at, i, all) => (all[i + 1] ?? at) - at);
  expect(waits.slice(0, 5)).toEqual([500, 1000, 2000, 4000, 5000]);
  expect(new Set(waits.slice(4, -1))).toEqual(new Set([5000]));
  expect(shown('message')).toContain('Cannot open Progress of a.ipynb: The kernel is busy.');
  expect([sessions.length, first.isDisposed, shown('stage')]).toEqual([1, false, 'picture']);

  failure = null;
  await jest.advanceTimersByTimeAsync(5000);
  const attempts = asked.length;
  setHidden(true);
  setHidden(false);
  await jest.advanceTimersByTimeAsync(60_000);
  expect(asked).toHaveLength(attempts);
  expect(sessions.map(session => session.isOpen)).toEqual([false, true]);
  expect([plot.node.dataset['state'], shown('stage')]).toEqual(['live', 'picture']);
});

it('waits longer each time where connections open and die, until one has lasted', async () => {
  await open();
  for (const wait of [500, 1000, 2000]) {
    sessions.at(-1)!.end();
    const ended = Date.now();
    await jest.advanceTimersByTimeAsync(wait);
    expect(askedAt.at(-1)! - ended).toBe(wait);
  }
  await jest.advanceTimersByTimeAsync(10_000);
  sessions.at(-1)!.end();
  await jest.advanceTimersByTimeAsync(500);
  expect(sessions).toHaveLength(5);
});

it('is opened with what is chosen while it connects', async () => {
  plot.setTarget('d1');
  plot.show({ prefix: 'inc' });
  await settled();
  expect(shownArguments).toEqual([{}, { prefix: 'inc' }]);
  expect(sessions.map(session => session.isDisposed)).toEqual([true, false]);
});

it('leaves its own stretch of time for good where live is asked for', async () => {
  const session = await open();
  plot.show({ prefix: 'inc', start: '1', stop: '2' });
  plot.send('live');
  expect(plot.arguments).toEqual({ prefix: 'inc' });
  expect(session.sent.slice(1)).toEqual([['show', { prefix: 'inc' }], ['live']]);
});

it('keeps the picture of the cluster that it leaves, grey and with words, until the next has data', async () => {
  const first = await open();
  firstState = 'connecting';
  plot.setTarget('d2');
  expect(shown('message')).toContain('Changing to a.ipynb');
  await settled();
  expect([plot.node.dataset['greyed'], first.isDisposed]).toEqual(['true', false]);
  sessions[1]!.say({});
  await settled();
  expect([plot.node.dataset['greyed'], first.isDisposed]).toEqual(['false', true]);
});
