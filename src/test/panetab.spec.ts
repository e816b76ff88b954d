/** What the tab of a pane says: which cluster it shows, and what of it. */

import { known } from './dashboards';
import { NOW, PaneStand } from './panestand';

describe('the tab of a pane', () => {
  const at = new PaneStand();
  const other = known({ id: 'other', kernel_id: 'k2', firstSeen: NOW, lastLive: NOW, tag: 7 });

  it('wears the tag of its cluster while there are several', async () => {
    await at.open();
    const { title } = at.pane;
    expect(Object.keys(title.dataset)).toEqual(['id']);
    at.given.dashboards.set({ ...at.own, tag: 7 }, { ...other, tag: 0 });
    expect(title.dataset).toEqual({ id: at.pane.id, tag: '8', color: '1' });
    expect(title.label).toBe('Task Stream');
    expect(title.caption).toBe('Task Stream of analysis.ipynb');
    at.given.dashboards.set(at.own);
    expect(title.dataset).toEqual({ id: at.pane.id });
  });

  it('is drawn anew only when its tag is another one', async () => {
    await at.open();
    const tagged = { ...at.own, tag: 0 };
    at.given.dashboards.set(tagged, other);
    const changes: unknown[] = [];
    at.pane.title.changed.connect(title => void changes.push(title.dataset));
    at.given.dashboards.set(tagged, other);
    expect(changes).toEqual([]);
  });

  it('has the end of an address, and the whole in its caption', async () => {
    await at.open();
    at.pane.view.showOther({ worker: 'tcp://127.0.0.1:43567' });
    const { label, caption } = at.pane.title;
    expect(label).toBe('Task Stream: …1:43567');
    expect(caption).toBe('Task Stream: tcp://127.0.0.1:43567 of analysis.ipynb');
    expect(at.pane.view.heading).toBe('Task Stream: tcp://127.0.0.1:43567');
  });
});
