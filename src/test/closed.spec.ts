/** What Lab and a browser tab say of a cluster that closed. */

import { closedWords, staleWords } from '../model/closed';
import { CLOSINGS } from './closings';
import { trans } from './dashboards';
import { served } from './served';

const tab = served<{ closedWords(at: Date, reason: string): string }>('closed.js');

describe('of a closed cluster is said', () => {
  it.each(CLOSINGS)('$what, in Lab', ({ at, reason, words }) => {
    expect(closedWords(at.getTime(), reason, trans)).toBe(words);
    const dashboard = { reason: reason || null, closed_at: at.getTime() / 1000 };
    expect(staleWords(dashboard, 0, trans)).toBe(words);
  });

  it.each(CLOSINGS)('$what, in a tab', ({ at, reason, words }) => {
    expect(tab.closedWords(at, reason)).toBe(words);
  });
});
