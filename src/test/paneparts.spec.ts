import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import { bindingOf } from '../model/binding';
import { Pane } from '../widgets/pane';
import { known } from './dashboards';
import { services, settled, type ITestServices } from './plots';

const NOW = new Date('2026-11-20T14:02:00').getTime();

describe('what a pane shows of many, and over its picture', () => {
  let given: ITestServices;
  let pane: Pane;
  const own = known({ id: 'own', kernel_id: 'k', firstSeen: NOW, lastLive: NOW });

  async function open(plot = 'task-stream'): Promise<void> {
    given.dashboards.set(own);
    pane = new Pane({ plot, binding: bindingOf(own), services: given }, 'key');
    Widget.attach(pane, document.body);
    await settled();
  }

  const reconnected = async (): Promise<void> => {
    const { length } = given.connector.sessions;
    jest.advanceTimersByTime(5000);
    await settled();
    expect(given.connector.sessions).toHaveLength(length + 1);
  };

  beforeEach(() => {
    jest.useFakeTimers({ now: NOW });
    given = services();
  });

  afterEach(() => {
    pane.dispose();
    given.look.dispose();
    jest.useRealTimers();
  });

  const cells = (): (string | null)[] =>
    [...pane.node.querySelectorAll('td')].map(cell => cell.textContent);

  it('gives the focus to its dialog and takes it back when that is closed', async () => {
    await open();
    pane.view.activate();
    MessageLoop.flush();
    await pane.toggleHelp();
    MessageLoop.flush();
    expect(document.activeElement?.getAttribute('role')).toBe('dialog');
    await pane.toggleTable();
    MessageLoop.flush();
    expect(document.activeElement?.textContent).toContain('as a table');
    await pane.toggleTable();
    MessageLoop.flush();
    expect(document.activeElement).toBe(pane.view.node);
  });

  it('lets nothing under its dialog have the focus', async () => {
    await open();
    const isInert = (): boolean[] =>
      [pane.view.node, pane.node.querySelector('[role="toolbar"]')].map(
        part => part?.hasAttribute('inert') === true
      );
    await pane.toggleHelp();
    await pane.toggleTable();
    expect(isInert()).toEqual([true, true]);
    pane.activate(); // as when its tab is chosen again
    MessageLoop.flush();
    expect(document.activeElement?.getAttribute('role')).toBe('dialog');
    pane.send('clear');
    expect(isInert()).toEqual([false, false]);
  });

  it('keeps the focus on the button that fetched its table anew', async () => {
    await open();
    await pane.toggleTable();
    const refresh = (): HTMLElement | null =>
      pane.node.querySelector('.jp-DaskDiag-cardLinks button');
    const before = refresh();
    before?.focus();
    before?.click();
    await settled();
    expect(refresh()).not.toBe(before);
    expect(document.activeElement).toBe(refresh());
  });

  it('says once more why a picture cannot be saved', async () => {
    given.connector.failure = 'away';
    await open();
    const save = pane.node.querySelector<HTMLElement>('[data-name="picture"]');
    for (let time = 0; time < 2; time += 1) {
      save?.click();
      await settled();
      expect(pane.node.querySelector('[role="dialog"]')?.textContent).toContain('no picture yet');
    }
  });

  it('opens a plot whose name is one that every object has', async () => {
    await open('constructor');
    expect(pane.title.label).toBe('Constructor');
  });

  it('explains itself, and Esc closes that before it clears', async () => {
    await open();
    await pane.toggleHelp();
    expect(pane.node.querySelector('[role="dialog"]')?.textContent).toContain('One bar for each');
    pane.send('clear');
    expect(pane.node.querySelector('[role="dialog"]')).toBeNull();
    expect(given.connector.last.sent).toEqual([]);
    pane.send('clear');
    expect(given.connector.last.sent).toEqual(['clear']);
  });

  it('shows what its arguments say, in title, state, table and session', async () => {
    given.dashboards.set(own);
    const options = { plot: 'progress', binding: bindingOf(own), services: given };
    pane = new Pane({ ...options, arguments: { prefix: 'inc' } }, 'key');
    Widget.attach(pane, document.body);
    await settled();
    expect([pane.title.label, pane.title.caption]).toEqual([
      'Progress: inc',
      'Progress: inc of analysis.ipynb'
    ]);
    expect([pane.state.arguments, given.connector.last.given]).toEqual([
      { prefix: 'inc' },
      { prefix: 'inc' }
    ]);
    await pane.toggleTable();
    expect(pane.node.querySelector('a')?.getAttribute('href')).toMatch(/\.csv\?prefix=inc$/);
  });

  it('shows something else in place, and says so for the next reload', async () => {
    await open();
    const told: object[] = [];
    pane.stateChanged.connect((_, state) => void told.push(state.arguments));
    pane.view.showOther({ prefix: 'dec' });
    pane.view.showOther({ prefix: 'dec' });
    expect(given.connector.last.showed).toEqual([{ prefix: 'dec' }]);
    expect([told, pane.title.label]).toEqual([[{ prefix: 'dec' }], 'Task Stream: dec']);
    given.connector.last.cut();
    await reconnected();
    expect(given.connector.last.given).toEqual({ prefix: 'dec' });
  });

  it('is told to show something else also while it is still connecting', async () => {
    const opening = open();
    pane.view.showOther({ prefix: 'dec' });
    await opening;
    expect(given.connector.last.showed).toEqual([{ prefix: 'dec' }]);
  });

  it('says why buttons can do nothing once the cluster is gone', async () => {
    await open();
    given.dashboards.set();
    const button = pane.node.querySelector<HTMLElement>('[data-name="table"]');
    expect(button?.getAttribute('aria-disabled')).toBe('true');
    expect(button?.title).toContain('gone');
    button?.click();
    expect(pane.node.querySelector('[role="dialog"]')).toBeNull();
    given.dashboards.set(own);
    expect(button?.getAttribute('aria-disabled')).toBe('false');
  });

  it('tells its keys with how to read the plot', async () => {
    await open();
    await pane.toggleHelp();
    const keys = pane.node.querySelector('.jp-DaskDiag-keys');
    expect(keys?.querySelector('tr')?.textContent).toBe('WZoom in');
  });

  it('tells how to read the plot as a key, and as text', async () => {
    given.fetchHelp = () =>
      Promise.resolve('One bar.\n\n- solid: <i>done</i>\n- click: its\n  page\n\nHealthy: long.');
    await open();
    await pane.toggleHelp();
    const body = pane.node.querySelector('.jp-DaskDiag-cardBody');
    const items = [...(body?.querySelectorAll('li') ?? [])].map(one => one.textContent);
    expect(items).toEqual(['solid: <i>done</i>', 'click: its page']);
    expect([...(body?.querySelectorAll('b') ?? [])].map(one => one.textContent)).toEqual([
      'solid',
      'click'
    ]);
    const said = [...(body?.querySelectorAll('p') ?? [])].map(one => one.textContent);
    expect(said.slice(-2)).toEqual(['One bar.', 'Healthy: long.']);
  });

  it('sorts its table by a column, and the other way at the next click', async () => {
    await open();
    await pane.toggleTable();
    const head = pane.node.querySelectorAll<HTMLElement>('thead button')[1];
    head?.click();
    expect([cells()[0], head?.parentElement?.getAttribute('aria-sort')]).toEqual([
      'b',
      'descending'
    ]);
    head?.click();
    expect([cells()[0], head?.parentElement?.getAttribute('aria-sort')]).toEqual([
      '<b>a</b>',
      'ascending'
    ]);
  });

  it('keeps the order of its table when it is fetched anew', async () => {
    await open();
    await pane.toggleTable();
    pane.node.querySelectorAll<HTMLElement>('thead button')[1]?.click();
    pane.node.querySelector<HTMLElement>('.jp-DaskDiag-cardLinks button')?.click();
    await settled();
    expect(cells()[0]).toBe('b');
  });

  it('shows its data as a table, text as text', async () => {
    await open();
    await pane.toggleTable();
    expect(cells()).toEqual(['<b>a</b>', '1', 'b', '2']);
    expect(pane.node.querySelector('th:nth-child(2)')?.textContent).toBe('cpu (%)');
    expect(pane.node.querySelector('a')?.getAttribute('download')).toBe('task-stream.csv');
  });
});
