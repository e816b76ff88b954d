import { Widget } from '@lumino/widgets';

import { bindingOf } from '../model/binding';
import { Pane } from '../widgets/pane';
import { known } from './dashboards';
import { services, settled, type ITestServices } from './plots';

const NOW = new Date('2026-11-20T14:02:00').getTime();

describe('a pane', () => {
  let given: ITestServices;
  let pane: Pane;
  const own = known({ id: 'own', kernel_id: 'k', firstSeen: NOW, lastLive: NOW });

  async function open(plot = 'task-stream'): Promise<void> {
    given.dashboards.set(own);
    pane = new Pane({ plot, binding: bindingOf(own), services: given }, 'key');
    Widget.attach(pane, document.body);
    await settled();
  }

  const words = (): string => pane.node.querySelector('.jp-DaskDiag-words')?.textContent ?? '';
  const pill = (): string => pane.node.querySelector('.jp-DaskDiag-pill')?.textContent ?? '';
  const reconnected = async (): Promise<void> => {
    const { length } = given.connector.sessions;
    jest.advanceTimersByTime(5000);
    await settled();
    expect(given.connector.sessions).toHaveLength(length + 1);
  };
  const state = (): string | undefined => pane.node.dataset['state'];

  beforeEach(() => {
    jest.useFakeTimers({ now: NOW });
    given = services();
  });

  afterEach(() => {
    pane.dispose();
    given.look.dispose();
    jest.useRealTimers();
  });

  it('tells by attributes what it shows, of whom, and how it is', async () => {
    await open();
    expect({ ...pane.node.dataset }).toMatchObject({
      plot: 'task-stream',
      dashboard: 'own',
      state: 'live'
    });
    expect(pane.title.label).toBe('Task Stream');
    expect(pane.node.textContent).toContain('picture of own');
  });

  it('opens nothing before anybody sees it', async () => {
    given.dashboards.set(own);
    pane = new Pane({ plot: 'graph', binding: bindingOf(own), services: given }, 'key');
    await settled();
    expect(given.connector.sessions).toHaveLength(0);
    expect(state()).toBe('connecting');
  });

  it('pauses its document while it is hidden', async () => {
    await open();
    pane.hide();
    expect([state(), given.connector.last.isVisible]).toEqual(['paused', false]);
    pane.show();
    expect([state(), given.connector.last.isVisible]).toEqual(['live', true]);
  });

  it('keeps its picture and says what to do when the cluster is gone', async () => {
    await open();
    given.dashboards.set();
    expect(state()).toBe('offline');
    expect(words()).toContain('The cluster of analysis.ipynb is gone since 14:02.');
    expect(words()).toContain('Run the cell');
    expect(pane.node.textContent).toContain('picture of own');
  });

  it('is taken over by the next cluster of its kernel, and says so for the next reload', async () => {
    await open();
    const told: string[] = [];
    pane.stateChanged.connect((_, { binding }) => void told.push(binding.dashboard));
    given.dashboards.set();
    given.dashboards.set(known({ id: 'next', kernel_id: 'k', firstSeen: NOW + 5000 }));
    await settled();
    expect([state(), pane.node.dataset['dashboard']]).toEqual(['live', 'next']);
    expect(pane.node.textContent).not.toContain('picture of own');
    expect(given.connector.sessions[0]?.isDisposed).toBe(true);
    expect(told).toEqual(['next']);
  });

  it('counts the seconds while the kernel holds the interpreter', async () => {
    await open();
    const reason = 'The kernel is holding the interpreter.';
    given.dashboards.set({ ...own, state: 'unreachable', reason });
    jest.advanceTimersByTime(7000);
    expect([state(), words()]).toEqual(['stale', `${reason}7 s`]);
    given.dashboards.set(own);
    expect([state(), words()]).toEqual(['live', '']);
  });

  it('connects again by itself after its connection was cut', async () => {
    await open();
    given.connector.last.cut();
    expect(state()).toBe('connecting');
    jest.advanceTimersByTime(1000);
    await settled();
    expect(given.connector.sessions).toHaveLength(2);
    expect(state()).toBe('live');
  });

  it('says why it cannot open and tries again', async () => {
    given.connector.failure = 'Bokeh is missing in the kernel.';
    await open();
    expect(words()).toContain('Bokeh is missing in the kernel.');
    given.connector.failure = null;
    jest.advanceTimersByTime(1000);
    await settled();
    expect([state(), words()]).toEqual(['live', '']);
  });

  it('says that its dashboard has no such plot', async () => {
    await open('no-such-plot');
    expect([state(), given.connector.sessions.length]).toEqual(['offline', 0]);
    expect(words()).toContain('has no plot');
  });

  it('shows the server’s words, its note and the way back to live', async () => {
    await open();
    given.connector.last.say({ note: 'merged below 4 ms', behind_s: 12.2 });
    expect(pane.node.querySelector('.jp-DaskDiag-note')?.textContent).toBe('merged below 4 ms');
    const pill = pane.node.querySelector<HTMLElement>('.jp-DaskDiag-pill');
    expect(pill?.textContent).toBe('live is 12 s ahead');
    pill?.click();
    expect(given.connector.last.sent).toEqual(['live']);
    given.connector.last.say({ state: 'closed', message: 'Cluster closed at 14:02' });
    expect([state(), words()]).toEqual(['stale', 'Cluster closed at 14:02']);
  });

  it('is frozen when the server says so, and says since when', async () => {
    await open();
    pane.send('freeze');
    expect([state(), pill()]).toEqual(['live', '']);
    jest.setSystemTime(NOW + 10_000);
    given.connector.last.say({ frozen: true });
    expect([state(), pill()]).toEqual(['paused', 'frozen at 14:02:10']);
    jest.setSystemTime(NOW + 20_000);
    given.connector.last.say({ frozen: true, note: 'something else' });
    expect(pill()).toBe('frozen at 14:02:10');
    given.connector.last.say({ frozen: true, behind_s: 12 });
    expect([state(), pill()]).toEqual(['paused', 'live is 12 s ahead']);
    given.connector.last.say({});
    expect([state(), pill()]).toEqual(['live', '']);
    given.connector.last.say({ frozen: true });
    expect(pill()).toBe('frozen at 14:02:20');
  });

  it('leaves it to the server what the same key lets go', async () => {
    await open();
    pane.send('freeze');
    given.connector.last.say({ frozen: true });
    pane.send('freeze');
    expect(given.connector.last.sent).toEqual(['freeze', 'freeze']);
  });

  it('freezes a picture that was moved where it is, and its button follows live data', async () => {
    await open();
    given.connector.last.say({ behind_s: 5 });
    pane.send('freeze');
    pane.node.querySelector<HTMLElement>('[data-name="live"]')?.click();
    given.connector.last.say({});
    pane.node.querySelector<HTMLElement>('[data-name="live"]')?.click();
    expect(given.connector.last.sent).toEqual(['freeze', 'live', 'freeze']);
  });

  it('is frozen again after its connection was cut', async () => {
    await open();
    given.connector.last.say({ frozen: true });
    given.connector.last.cut();
    await reconnected();
    expect(given.connector.last.sent).toEqual(['freeze']);
  });

  it('stays live after a cut when it was let go before or meanwhile', async () => {
    await open();
    given.connector.last.say({ frozen: true });
    given.connector.last.say({});
    given.connector.last.cut();
    pane.send('freeze'); // there is nothing to freeze
    expect(pill()).toBe('');
    await reconnected();
    expect([state(), given.connector.last.sent]).toEqual(['live', []]);
    given.connector.last.say({ frozen: true });
    given.connector.last.cut();
    pane.send('live');
    await reconnected();
    expect(given.connector.last.sent).toEqual([]);
  });

  it('is not frozen for the cluster that takes it over', async () => {
    await open();
    given.connector.last.say({ frozen: true });
    given.dashboards.set();
    given.dashboards.set(known({ id: 'next', kernel_id: 'k', firstSeen: NOW + 5000 }));
    await settled();
    expect([state(), given.connector.last.sent]).toEqual(['live', []]);
  });

  it('does not try to connect while nobody sees it', async () => {
    await open();
    given.connector.last.cut();
    pane.hide();
    expect(jest.getTimerCount()).toBe(0);
    given.connector.failure = 'Busy.';
    pane.show();
    await settled();
    pane.hide();
    given.connector.failure = null;
    jest.advanceTimersByTime(60_000);
    await settled();
    expect(given.connector.sessions).toHaveLength(1);
    pane.show();
    await settled();
    expect([state(), given.connector.sessions.length]).toEqual(['live', 2]);
  });

  it('has a toolbar with one tab stop, and names for all buttons', async () => {
    await open();
    const buttons = [...pane.node.querySelectorAll<HTMLElement>('[role="toolbar"] button')];
    expect(buttons.map(button => button.tabIndex).filter(index => index === 0)).toHaveLength(1);
    expect(buttons.every(button => button.getAttribute('aria-label'))).toBe(true);
    buttons[0]?.focus();
    buttons[0]?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
    expect(document.activeElement).toBe(buttons[1]);
  });

  it('has the picture’s own title as a heading of its own', async () => {
    await open();
    const heading = (): string | undefined =>
      pane.node.querySelector('.jp-DaskDiag-title')?.textContent;
    expect(heading()).toBe('Task Stream');
    given.connector.last.title = 'Task Stream: 80 % busy';
    given.connector.last.say({});
    expect(heading()).toBe('Task Stream: 80 % busy');
  });

  it('wears a tag only where there is more than one dashboard', async () => {
    await open();
    const tag = pane.node.querySelector<HTMLElement>(':scope > .jp-DaskDiag-tag');
    expect(tag?.hidden).toBe(true);
    given.dashboards.set(own, known({ id: 'second', tag: 1, kernel_id: 'k2' }));
    expect([tag?.hidden, tag?.textContent]).toEqual([false, '1']);
  });

  it('leaves nothing behind', async () => {
    await open();
    const session = given.connector.last;
    pane.dispose();
    expect(session.isDisposed).toBe(true);
    given.dashboards.set();
    expect(jest.getTimerCount()).toBe(0);
  });
});
