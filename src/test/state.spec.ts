import { Control } from '../protocol/control';
import { presentationOf, type ISituation } from '../plot/state';
import { english } from '../text';

const NOW = new Date(2026, 10, 23, 14, 2, 10).getTime();

function present(
  values: Partial<ISituation>,
  control: object = {}
): ReturnType<typeof presentationOf> {
  const open = { phase: 'open', control: new Control({ state: 'live', ...control }) } as const;
  const situation: ISituation = {
    now: NOW,
    plotTitle: 'Progress',
    dashboardName: 'a.ipynb',
    blocker: null,
    connection: open,
    isSeen: true,
    hasPicture: true,
    isLeft: false,
    ...values
  };
  return presentationOf(situation, english);
}

describe('a plot', () => {
  it('is live where somebody sees it, and paused where nobody does or it is frozen', () => {
    expect(present({}).state).toBe('live');
    expect(present({ isSeen: false }).state).toBe('paused');
    expect(present({ isSeen: false, connection: { phase: 'none' } }).state).toBe('paused');
    const frozen = present({}, { frozen: true });
    expect([frozen.state, frozen.pill]).toEqual(['paused', 'frozen']);
    expect(present({}, { behind_s: 12 }).pill).toBe('live is 12 s ahead');
  });

  it('says which stretch of time all panes show, and where it shows another', () => {
    const period = { text: '10 s from 14:02:11' };
    const pill = (is_shown: boolean, more: object = {}): string =>
      present({}, { period: JSON.stringify({ ...period, is_shown }), behind_s: 9, ...more }).pill;
    expect(pill(true)).toBe('10 s from 14:02:11 · All panes');
    expect(pill(true, { state: 'closed' })).toBe('10 s from 14:02:11 · All panes');
    expect(pill(false)).toBe('Not 10 s from 14:02:11');
    expect(present({}, { chosen: '{"text": "3 s", "start": 1, "stop": 4}' }).chosen).toBe('3 s');
  });

  it('says why it is empty, over a picture that is not grey', () => {
    const { message, isGreyed, state } = present({}, { empty: 'No tasks yet.' });
    expect([message, isGreyed, state]).toEqual(['No tasks yet.', false, 'live']);
  });

  it('stays grey after its end and says when that was', () => {
    const { message, isGreyed, state, pill } = present(
      {},
      { state: 'closed', closed_at: NOW / 1000 }
    );
    expect(message).toBe('Cluster closed at 14:02 · history kept until the kernel stops');
    expect([isGreyed, state, pill]).toEqual([true, 'stale', '']);
  });

  it('is as it was recorded, which is no end of anything', () => {
    const reason = 'Recording until 2026-11-23 14:02';
    const { isGreyed, state, note, pill } = present(
      {},
      { state: 'closed', message: reason, behind_s: 9 }
    );
    expect([isGreyed, state, note, pill]).toEqual([false, 'stale', reason, '']);
  });

  it('waits without a flicker, then says what for and how long', () => {
    const opening = (since: number): ISituation['connection'] => ({ phase: 'opening', since });
    expect(present({ connection: opening(NOW - 100) }).message).toBe('');
    const busy = present({ connection: opening(NOW - 5000) });
    expect(busy.message).toBe('a.ipynb has not answered yet; its kernel or scheduler is busy.');
    expect(busy.elapsed).toBe('5 s');
    const failed = present({ connection: { phase: 'failed', reason: 'No.', retryAt: NOW + 3000 } });
    expect([failed.message, failed.elapsed]).toEqual([
      'Cannot open Progress of a.ipynb: No.',
      'next try in 3 s'
    ]);
  });

  it('has a blocker of its place before its own state', () => {
    const blocker = { state: 'stale', message: 'Busy.', since: NOW - 2000 } as const;
    const { state, message, elapsed, isGreyed } = present({ blocker });
    expect([state, message, elapsed, isGreyed]).toEqual(['stale', 'Busy.', '2 s', true]);
  });
});
