/** When a browser tab asks who follows its cluster, and how often. */

import { MINUTE_MS, one, PageSocket, SuccessorStand } from './successorstand';

describe('the successor of a tab’s cluster', () => {
  let stand: SuccessorStand;

  beforeEach(() => {
    stand = new SuccessorStand();
  });

  afterEach(() => stand.dispose());

  it('is not asked for while nobody sees the page', async () => {
    stand.successor.attend(true, true);
    await stand.pass(MINUTE_MS);
    const before = stand.asked;
    stand.successor.attend(true, false);
    await stand.pass(10 * MINUTE_MS);
    stand.successor.attend(false, false);
    await stand.pass(10 * MINUTE_MS);
    expect([stand.asked, PageSocket.made.length]).toEqual([before, 0]);
    stand.successor.attend(false, true);
    expect(PageSocket.made).toHaveLength(1);
    stand.successor.attend(false, false);
    expect(stand.socket.isClosed).toBe(true);
  });

  it('is told from all that there are, once also while nobody sees the page', async () => {
    stand.successor.attend(true, true);
    await stand.pass(1000);
    stand.successor.attend(true, false);
    stand.listed = [one('a'), one('b')];
    await stand.successor.peek();
    expect(stand.seen).toEqual([
      ['a', 'a'],
      ['a', 'a', 'b']
    ]);
    stand.listed = [one('b')]; // its own is gone
    await stand.successor.peek();
    stand.listed = null;
    await stand.successor.peek();
    expect([stand.seen.slice(2), jest.getTimerCount()]).toEqual([[['a', 'b']], 0]);
  });

  it('is listened for again, with growing pauses, when the socket ends', async () => {
    stand.successor.attend(true, true);
    await stand.pass(1000);
    stand.successor.attend(false, true);
    for (let passed = 0; passed < 2 * MINUTE_MS; passed += 500) {
      if (!stand.socket.isClosed) {
        stand.socket.close();
      }
      await stand.pass(500);
    }
    expect(PageSocket.made.length).toBeGreaterThan(3);
    expect(PageSocket.made.length).toBeLessThan(12);
  });

  it('is listened for again at once, however often the page was hidden', async () => {
    stand.successor.attend(true, true);
    await stand.pass(1000);
    for (let times = 0; times < 8; times += 1) {
      stand.successor.attend(false, true);
      stand.successor.attend(false, false);
    }
    stand.successor.attend(false, true);
    const before = PageSocket.made.length;
    stand.socket.close();
    await stand.pass(1000);
    expect(PageSocket.made).toHaveLength(before + 1);
  });

  it('is looked for further, and the page’s own known, where showing who there is fails', async () => {
    const fault = new Error('a badge that fails');
    let known = 0;
    stand.told.own = () => (known += 1);
    stand.told.listed = () => {
      stand.told.listed = () => undefined;
      throw fault;
    };
    await expect(stand.successor.look()).rejects.toBe(fault);
    expect([known, stand.successor.own?.id]).toEqual([1, 'a']);
    expect(stand.debug).not.toHaveBeenCalled();
    await stand.pass(MINUTE_MS);
    expect(stand.asked).toBe(3);
  });
});
