/** Which cluster takes over a browser tab whose own has ended. */

import type { PageChannel } from './pagechannels';
import { MINUTE_MS, one, Rivals, Successor, SuccessorStand } from './successorstand';

const ended = one('a', { state: 'stale' });

describe('the successor of a tab’s cluster', () => {
  let stand: SuccessorStand;

  beforeEach(() => {
    stand = new SuccessorStand();
  });

  afterEach(() => stand.dispose());

  it('is nobody’s for a page that came without a relay', () => {
    const none = { own: () => undefined, listed: () => undefined, next: () => undefined };
    const url = new URL('http://localhost:4711/');
    expect(Successor.of(url, [], () => ({}), none)).toBeNull();
  });

  it('is the newest cluster that began after it, to which the page has not gone yet', async () => {
    stand.successor.attend(true, true);
    await stand.pass(MINUTE_MS);
    stand.successor.attend(false, true);
    stand.hear(ended, one('b'), one('c'));
    await stand.pass(MINUTE_MS);
    expect(stand.places).toEqual(['c']);
    expect(window.sessionStorage).toHaveLength(0); // a picture may be frozen
  });

  it('is told from clusters of other kernels, which have no place in the order', async () => {
    stand.listed = [one('else', { kernel_id: 'k2' }), one('a')];
    stand.successor.attend(true, true);
    await stand.pass(MINUTE_MS);
    expect(stand.rivals.me.order).toEqual(['a']);
  });

  it('is none that has run beside it, since before or after the page was opened', async () => {
    stand.listed = [one('a'), one('before')];
    stand.successor.attend(true, true);
    await stand.pass(MINUTE_MS);
    stand.listed = [one('a'), one('before'), one('after')];
    await stand.pass(2 * MINUTE_MS);
    stand.successor.attend(false, true);
    stand.hear(ended, one('before'), one('after'));
    await stand.pass(MINUTE_MS);
    expect(stand.places).not.toContain('after');
    stand.hear(ended, one('before'), one('after'), one('next'));
    await stand.pass(MINUTE_MS);
    expect(stand.places.at(-1)).toBe('next');
  });

  it('may have begun a moment before it ended', async () => {
    stand.successor.attend(true, true);
    await stand.pass(MINUTE_MS);
    stand.listed = [one('a'), one('b')];
    await stand.pass(MINUTE_MS / 2);
    stand.successor.attend(false, true);
    stand.hear(ended, one('b'));
    await stand.pass(MINUTE_MS);
    expect(stand.places).toEqual(['b']);
  });

  it('is not looked for in a list that lacks it only for a moment', async () => {
    stand.successor.attend(true, true);
    await stand.pass(MINUTE_MS);
    stand.successor.attend(false, true);
    stand.hear(one('b'));
    await stand.pass(1000);
    stand.hear(one('a', { state: 'unreachable' }), one('b'));
    await stand.pass(MINUTE_MS);
    expect(stand.places).toEqual([null]);
    stand.hear(one('b'));
    await stand.pass(MINUTE_MS);
    expect(stand.places).toEqual([null, 'b']);
  });

  it('is found also when the first lists did not come', async () => {
    stand.listed = null;
    stand.successor.attend(true, true);
    await stand.pass(2 * MINUTE_MS);
    expect(stand.successor.own).toBeNull();
    expect(stand.asked).toBeLessThan(10);
    stand.listed = [one('a')];
    await stand.pass(MINUTE_MS);
    expect(stand.successor.own?.id).toBe('a');
    stand.successor.attend(false, true);
    stand.hear(one('b'));
    await stand.pass(MINUTE_MS);
    expect(stand.places).toEqual(['b']);
  });

  it('is found when no list came before its end', async () => {
    stand.listed = null;
    stand.successor.attend(true, true);
    await stand.pass(MINUTE_MS);
    stand.successor.attend(false, true);
    stand.hear(ended);
    stand.hear(ended, one('b'));
    await stand.pass(MINUTE_MS);
    expect(stand.places).toEqual([null, 'b']);
  });

  /** Lose the cluster while the page of an older one waits as well, and have one new listed. */
  async function waitBesideOlder(channel: PageChannel): Promise<void> {
    const older = new Rivals('older', channel) as unknown as {
      know(kernel: unknown, ids: string[]): void;
    };
    older.know(one('a').kernel_id, ['older']);
    stand.listed = [one('older'), one('a')];
    stand.successor.attend(true, true);
    await stand.pass(MINUTE_MS);
    stand.successor.attend(false, true);
    stand.hear(ended, one('b'));
    await stand.pass(5000);
  }

  it('is left to the page of an older cluster that waits, until that has one', async () => {
    await waitBesideOlder(stand.channels.open());
    expect(stand.places).toEqual(['b of another page']);
    stand.hear(ended, one('b'), one('c'));
    await stand.pass(5000);
    expect(stand.places.at(-1)).toBe('c');
  });

  it('is this page’s again when that of the older cluster is closed', async () => {
    const channel = stand.channels.open();
    await waitBesideOlder(channel);
    stand.channels.close(channel);
    await stand.pass(MINUTE_MS);
    expect(stand.places).toEqual(['b of another page', 'b']);
  });
});
