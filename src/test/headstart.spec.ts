/** A session is asked for at the press, and used by the click or drop of that press alone. */

import type { IBokeh } from '../api/bokeh';
import { HeadStart, type IReady, type IWish } from '../api/headstart';
import type { ILook } from '../wire';
import { settled } from './plots';

const LOOK = { background: '#ffffff' } as ILook; // what differs of it
const WISH: IWish = { dashboard: 'a', plot: 'cpu', look: LOOK, given: {} };

let asked: string[];
let loadMs: number;
let answers: ((token: string) => void)[];
let failures: ((error: Error) => void)[];
let ahead: HeadStart;

beforeEach(() => {
  jest.useFakeTimers();
  asked = [];
  loadMs = 0;
  answers = [];
  failures = [];
  ahead = new HeadStart(({ dashboard, plot }) => {
    asked.push(`${plot} of ${dashboard}`);
    return new Promise<IReady>((resolve, reject) => {
      answers.push(token => {
        const reply = { token, document: {}, bokeh: '3.9.0', scripts: [], later: [] };
        const repliedAt = Date.now() - loadMs;
        resolve({ reply, repliedAt, bokeh: {} as IBokeh }); // nobody draws with it
      });
      failures.push(reject);
    });
  });
});

afterEach(() => jest.useRealTimers());

it('gives what was asked for ahead, once', async () => {
  ahead.begin(WISH);
  answers[0]?.('first');
  expect((await ahead.take({ ...WISH, look: { ...LOOK } })).reply.token).toBe('first');
  expect(asked).toHaveLength(1);
  const second = ahead.take(WISH);
  answers[1]?.('second');
  expect((await second).reply.token).toBe('second');
});

it.each([
  ['plot', { plot: 'progress' }],
  ['dashboard', { dashboard: 'b' }],
  ['look', { look: { background: '#000000' } as ILook }],
  ['choice', { given: { key: 'x' } }]
])('asks for another %s', (_, other) => {
  ahead.begin(WISH);
  void ahead.take({ ...WISH, ...other });
  expect(asked).toHaveLength(2);
});

it('asks anew for what lay too long', async () => {
  ahead.begin(WISH);
  answers[0]?.('first');
  jest.advanceTimersByTime(11_000);
  void ahead.take(WISH);
  await settled();
  expect(asked).toHaveLength(2);
});

it('asks anew where BokehJS took too long', async () => {
  ahead.begin(WISH);
  void ahead.take(WISH);
  loadMs = 11_000;
  answers[0]?.('first');
  await settled();
  expect(asked).toHaveLength(2);
});

it('waits for a kernel that answers late', async () => {
  ahead.begin(WISH);
  jest.advanceTimersByTime(11_000);
  const taken = ahead.take(WISH);
  answers[0]?.('first');
  expect((await taken).reply.token).toBe('first');
  expect(asked).toHaveLength(1);
});

it('asks anew after a failure, and leaves no rejection behind', async () => {
  ahead.begin(WISH);
  failures[0]?.(new Error('busy'));
  await settled();
  void ahead.take(WISH);
  expect(asked).toHaveLength(2);
});

it('forgets a failure of its own only', async () => {
  ahead.begin(WISH);
  ahead.begin({ ...WISH, plot: 'progress' });
  failures[0]?.(new Error('busy'));
  await settled();
  void ahead.take({ ...WISH, plot: 'progress' });
  expect(asked).toEqual(['cpu of a', 'progress of a']);
});
