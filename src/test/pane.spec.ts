import { bindingOf } from '../model/binding';
import { Pane } from '../widgets/pane';
import { known } from './dashboards';
import { NOW, PaneStand } from './panestand';
import { settled } from './plots';

describe('a pane', () => {
  const at = new PaneStand();

  const words = (): string => at.pane.node.querySelector('.jp-DaskDiag-words')?.textContent ?? '';
  const pill = (): string => at.pane.node.querySelector('.jp-DaskDiag-pill')?.textContent ?? '';
  const state = (): string | undefined => at.pane.node.dataset['state'];

  it('tells by attributes what it shows, of whom, and how it is', async () => {
    await at.open();
    expect({ ...at.pane.node.dataset }).toMatchObject({
      plot: 'task-stream',
      dashboard: 'own',
      state: 'live'
    });
    expect(at.pane.title.label).toBe('Task Stream');
    expect(at.pane.node.textContent).toContain('picture of own');
  });

  it('opens nothing before anybody sees it', async () => {
    at.given.dashboards.set(at.own);
    at.pane = new Pane({ plot: 'graph', binding: bindingOf(at.own), services: at.given }, 'key');
    await settled();
    expect(at.given.connector.sessions).toHaveLength(0);
    expect(state()).toBe('connecting');
  });

  it('pauses its document while it is hidden', async () => {
    await at.open();
    at.pane.hide();
    expect([state(), at.given.connector.last.isVisible]).toEqual(['paused', false]);
    at.pane.show();
    expect([state(), at.given.connector.last.isVisible]).toEqual(['live', true]);
  });

  it('says that nobody keeps its picture up to date before the server has greeted', async () => {
    at.given.connector.beginsMute = true;
    await at.open();
    expect([state(), words()]).toEqual(['connecting', '']);
    jest.advanceTimersByTime(3_000);
    expect([state(), words()]).toEqual([
      'connecting',
      'analysis.ipynb has not answered yet; its kernel is busy.3 s'
    ]);
    at.given.connector.last.greet();
    expect([state(), words()]).toEqual(['live', '']);
  });

  it('keeps its picture and says what to do when the cluster is gone', async () => {
    await at.open();
    at.given.dashboards.set();
    expect(state()).toBe('offline');
    expect(words()).toContain('The cluster of analysis.ipynb is gone since 14:02.');
    expect(words()).toContain('Run the cell');
    expect(at.pane.node.textContent).toContain('picture of own');
  });

  it('is taken over by the next cluster of its kernel, and says so for the next reload', async () => {
    await at.open();
    const told: string[] = [];
    at.pane.stateChanged.connect((_, { binding }) => void told.push(binding.dashboard));
    at.given.dashboards.set();
    at.given.dashboards.set(known({ id: 'next', kernel_id: 'k', firstSeen: NOW + 5000 }));
    await settled();
    expect([state(), at.pane.node.dataset['dashboard']]).toEqual(['live', 'next']);
    expect(at.pane.node.textContent).not.toContain('picture of own');
    expect(at.given.connector.sessions[0]?.isDisposed).toBe(true);
    expect(told).toEqual(['next']);
  });

  it('counts the seconds while the kernel holds the interpreter', async () => {
    await at.open();
    const reason = 'The kernel is holding the interpreter.';
    at.given.dashboards.set({ ...at.own, state: 'unreachable', reason });
    jest.advanceTimersByTime(7000);
    expect([state(), words()]).toEqual(['stale', `${reason}7 s`]);
    at.given.dashboards.set(at.own);
    expect([state(), words()]).toEqual(['live', '']);
  });

  it('connects again by itself after its connection was cut', async () => {
    await at.open();
    at.given.connector.last.cut();
    expect(state()).toBe('connecting');
    jest.advanceTimersByTime(1000);
    await settled();
    expect(at.given.connector.sessions).toHaveLength(2);
    expect(state()).toBe('live');
  });

  it('says why it cannot open and tries again', async () => {
    at.given.connector.failure = 'Bokeh is missing in the kernel.';
    await at.open();
    expect(words()).toContain('Bokeh is missing in the kernel.');
    at.given.connector.failure = null;
    jest.advanceTimersByTime(1000);
    await settled();
    expect([state(), words()]).toEqual(['live', '']);
  });

  it('says that its dashboard has no such plot', async () => {
    await at.open('no-such-plot');
    expect([state(), at.given.connector.sessions.length]).toEqual(['offline', 0]);
    expect(words()).toContain('has no plot');
  });

  it('shows the server’s words, its note and the way back to live', async () => {
    await at.open();
    at.given.connector.last.say({ note: 'merged below 4 ms', behind_s: 12.2 });
    expect(at.pane.node.querySelector('.jp-DaskDiag-note')?.textContent).toBe('merged below 4 ms');
    const pill = at.pane.node.querySelector<HTMLElement>('.jp-DaskDiag-pill');
    expect(pill?.textContent).toBe('live is 12 s ahead');
    pill?.click();
    expect(at.given.connector.last.sent).toEqual(['live']);
    const closed_at = new Date(2026, 0, 5, 14, 2).getTime() / 1000;
    at.given.connector.last.say({ state: 'closed', message: 'The client was closed.', closed_at });
    expect([state(), words()]).toEqual(['stale', 'Ended at 14:02 · The client was closed.']);
  });

  it('says when its cluster closed, also where it is opened after that', async () => {
    await at.open();
    const closed = new Date(2026, 0, 5, 13, 58).getTime() / 1000;
    at.given.connector.last.say({ state: 'closed', closed_at: closed });
    const sentence = 'Cluster closed at 13:58 · history kept until the kernel stops';
    expect([state(), words()]).toEqual(['stale', sentence]);
    expect(at.pane.node.querySelector<HTMLElement>('[data-greyed="true"]')).not.toBeNull();
  });

  it('says also why it is empty where its cluster closed, unless it keeps a picture', async () => {
    await at.open();
    const closed_at = new Date(2026, 0, 5, 13, 58).getTime() / 1000;
    at.given.connector.last.say({ state: 'closed', closed_at, empty: 'Nothing asked for it.' });
    const sentence = 'Cluster closed at 13:58 · history kept until the kernel stops';
    expect(words()).toBe(`${sentence} · Nothing asked for it.`);
    const canvas = document.createElement('canvas');
    at.given.connector.last.kept = { canvas, title: '', at: NOW };
    at.given.connector.last.say({ state: 'closed', closed_at, empty: 'No workers now.' });
    expect(words()).toBe(sentence);
  });

  it('is frozen when the server says so, and says since when', async () => {
    await at.open();
    at.pane.send('freeze');
    expect([state(), pill()]).toEqual(['live', '']);
    jest.setSystemTime(NOW + 10_000);
    at.given.connector.last.say({ frozen: true });
    expect([state(), pill()]).toEqual(['paused', 'frozen at 14:02:10']);
    jest.setSystemTime(NOW + 20_000);
    at.given.connector.last.say({ frozen: true, note: 'something else' });
    expect(pill()).toBe('frozen at 14:02:10');
    at.given.connector.last.say({ frozen: true, behind_s: 12 });
    expect([state(), pill()]).toEqual(['paused', 'live is 12 s ahead']);
    at.given.connector.last.say({});
    expect([state(), pill()]).toEqual(['live', '']);
    at.given.connector.last.say({ frozen: true });
    expect(pill()).toBe('frozen at 14:02:20');
  });

  it('leaves it to the server what the same key lets go', async () => {
    await at.open();
    at.pane.send('freeze');
    at.given.connector.last.say({ frozen: true });
    at.pane.send('freeze');
    expect(at.given.connector.last.sent).toEqual(['freeze', 'freeze']);
  });

  it('freezes a picture that was moved where it is, and its button follows live data', async () => {
    await at.open();
    at.given.connector.last.say({ behind_s: 5 });
    at.pane.send('freeze');
    at.pane.node.querySelector<HTMLElement>('[data-name="live"]')?.click();
    at.given.connector.last.say({});
    at.pane.node.querySelector<HTMLElement>('[data-name="live"]')?.click();
    expect(at.given.connector.last.sent).toEqual(['freeze', 'live', 'freeze']);
  });

  it('is frozen again after its connection was cut', async () => {
    await at.open();
    at.given.connector.last.say({ frozen: true });
    at.given.connector.last.cut();
    await at.reconnected();
    expect(at.given.connector.last.sent).toEqual(['freeze']);
  });

  it('stays live after a cut when it was let go before or meanwhile', async () => {
    await at.open();
    at.given.connector.last.say({ frozen: true });
    at.given.connector.last.say({});
    at.given.connector.last.cut();
    at.pane.send('freeze'); // there is nothing to freeze
    expect(pill()).toBe('');
    await at.reconnected();
    expect([state(), at.given.connector.last.sent]).toEqual(['live', []]);
    at.given.connector.last.say({ frozen: true });
    at.given.connector.last.cut();
    at.pane.send('live');
    await at.reconnected();
    expect(at.given.connector.last.sent).toEqual([]);
  });

  it('is not frozen for the cluster that takes it over', async () => {
    await at.open();
    at.given.connector.last.say({ frozen: true });
    at.given.dashboards.set();
    at.given.dashboards.set(known({ id: 'next', kernel_id: 'k', firstSeen: NOW + 5000 }));
    await settled();
    expect([state(), at.given.connector.last.sent]).toEqual(['live', []]);
  });

  it('does not try to connect while nobody sees it', async () => {
    await at.open();
    at.given.connector.last.cut();
    at.pane.hide();
    expect(jest.getTimerCount()).toBe(0);
    at.given.connector.failure = 'Busy.';
    at.pane.show();
    await settled();
    at.pane.hide();
    at.given.connector.failure = null;
    jest.advanceTimersByTime(60_000);
    await settled();
    expect(at.given.connector.sessions).toHaveLength(1);
    at.pane.show();
    await settled();
    expect([state(), at.given.connector.sessions.length]).toEqual(['live', 2]);
  });

  it('has a toolbar with one tab stop, and names for all buttons', async () => {
    await at.open();
    const buttons = [...at.pane.node.querySelectorAll<HTMLElement>('[role="toolbar"] button')];
    expect(buttons.map(button => button.tabIndex).filter(index => index === 0)).toHaveLength(1);
    expect(buttons.every(button => button.getAttribute('aria-label'))).toBe(true);
    buttons[0]?.focus();
    buttons[0]?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
    expect(document.activeElement).toBe(buttons[1]);
  });

  it('has the picture’s own title as a heading of its own', async () => {
    await at.open();
    const heading = (): string | undefined =>
      at.pane.node.querySelector('.jp-DaskDiag-title')?.textContent;
    expect(heading()).toBe('Task Stream');
    at.given.connector.last.title = 'Task Stream: 80 % busy';
    at.given.connector.last.say({});
    expect(heading()).toBe('Task Stream: 80 % busy');
  });

  it('wears a tag only where there is more than one dashboard', async () => {
    await at.open();
    const tag = at.pane.node.querySelector<HTMLElement>('.jp-DaskDiag-head > .jp-DaskDiag-tag');
    expect(tag?.hidden).toBe(true);
    at.given.dashboards.set(at.own, known({ id: 'second', tag: 1, kernel_id: 'k2' }));
    expect([tag?.hidden, tag?.textContent]).toEqual([false, '1']);
  });

  it('leaves nothing behind', async () => {
    await at.open();
    const session = at.given.connector.last;
    at.pane.dispose();
    expect(session.isDisposed).toBe(true);
    at.given.dashboards.set();
    expect(jest.getTimerCount()).toBe(0);
  });
});
