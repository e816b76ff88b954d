import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import { bindingOf, LISTING_MS, NO_BINDING } from '../model/binding';
import { Pane } from '../widgets/pane';
import { PaneStand } from './panestand';
import { settled } from './plots';

describe('what a pane shows of many, and over its picture', () => {
  const at = new PaneStand();

  const cells = (): (string | null)[] =>
    [...at.pane.node.querySelectorAll('td')].map(cell => cell.textContent);

  it('gives the focus to its dialog and takes it back when that is closed', async () => {
    await at.open();
    at.pane.view.activate();
    MessageLoop.flush();
    await at.pane.toggleHelp();
    MessageLoop.flush();
    expect(document.activeElement?.getAttribute('role')).toBe('dialog');
    await at.pane.toggleTable();
    MessageLoop.flush();
    expect(document.activeElement?.textContent).toContain('as a table');
    await at.pane.toggleTable();
    MessageLoop.flush();
    expect(document.activeElement).toBe(at.pane.view.node);
  });

  it('lets nothing under its dialog have the focus', async () => {
    await at.open();
    const isInert = (): boolean[] =>
      [at.pane.view.node, at.pane.node.querySelector('[role="toolbar"]')].map(
        part => part?.hasAttribute('inert') === true
      );
    await at.pane.toggleHelp();
    await at.pane.toggleTable();
    expect(isInert()).toEqual([true, true]);
    at.pane.activate(); // as when its tab is chosen again
    MessageLoop.flush();
    expect(document.activeElement?.getAttribute('role')).toBe('dialog');
    at.pane.send('clear');
    expect(isInert()).toEqual([false, false]);
  });

  it('keeps the focus on the button that fetched its table anew', async () => {
    await at.open();
    await at.pane.toggleTable();
    const refresh = (): HTMLElement | null =>
      at.pane.node.querySelector('.jp-DaskDiag-cardLinks button');
    const before = refresh();
    before?.focus();
    before?.click();
    await settled();
    expect(refresh()).not.toBe(before);
    expect(document.activeElement).toBe(refresh());
  });

  it('says once more why a picture cannot be saved', async () => {
    at.given.connector.failure = 'away';
    await at.open();
    const save = at.pane.node.querySelector<HTMLElement>('[data-name="picture"]');
    for (let time = 0; time < 2; time += 1) {
      save?.click();
      await settled();
      expect(at.pane.node.querySelector('[role="dialog"]')?.textContent).toContain(
        'no picture yet'
      );
    }
  });

  it('opens a plot whose name is one that every object has', async () => {
    await at.open('constructor');
    expect(at.pane.title.label).toBe('Constructor');
  });

  it('explains itself, and Esc closes that before it clears', async () => {
    await at.open();
    await at.pane.toggleHelp();
    expect(at.pane.node.querySelector('[role="dialog"]')?.textContent).toContain(
      'One bar for each'
    );
    at.pane.send('clear');
    expect(at.pane.node.querySelector('[role="dialog"]')).toBeNull();
    for (let press = 0; press < 3; press += 1) {
      jest.advanceTimersByTime(600); // each a slip after the one before
      at.pane.send('clear');
    }
    expect(at.given.connector.last.sent).toEqual([]);
    jest.advanceTimersByTime(1000);
    at.pane.send('clear');
    expect(at.given.connector.last.sent).toEqual(['clear']);
  });

  it('is not cleared by a second Esc after one that closed a menu', async () => {
    await at.open();
    document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
    at.pane.send('clear');
    expect(at.given.connector.last.sent).toEqual([]);
    jest.advanceTimersByTime(1000);
    at.pane.send('clear');
    expect(at.given.connector.last.sent).toEqual(['clear']);
  });

  it('shows what its arguments say, in title, state, table and session', async () => {
    at.given.dashboards.set(at.own);
    const options = { plot: 'progress', binding: bindingOf(at.own), services: at.given };
    at.pane = new Pane({ ...options, arguments: { prefix: 'inc' } }, 'key');
    Widget.attach(at.pane, document.body);
    await settled();
    expect([at.pane.title.label, at.pane.title.caption]).toEqual([
      'Progress: inc',
      'Progress: inc of analysis.ipynb'
    ]);
    expect([at.pane.state.arguments, at.given.connector.last.given]).toEqual([
      { prefix: 'inc' },
      { prefix: 'inc' }
    ]);
    await at.pane.toggleTable();
    expect(at.pane.node.querySelector('a')?.getAttribute('href')).toMatch(/\.csv\?prefix=inc$/);
  });

  it('shows something else in place, and says so for the next reload', async () => {
    await at.open();
    const told: object[] = [];
    at.pane.stateChanged.connect((_, state) => void told.push(state.arguments));
    at.pane.view.showOther({ prefix: 'dec' });
    at.pane.view.showOther({ prefix: 'dec' });
    expect(at.given.connector.last.showed).toEqual([{ prefix: 'dec' }]);
    expect([told, at.pane.title.label]).toEqual([[{ prefix: 'dec' }], 'Task Stream: dec']);
    at.given.connector.last.cut();
    await at.reconnected();
    expect(at.given.connector.last.given).toEqual({ prefix: 'dec' });
  });

  it('is told to show something else also while it is still connecting', async () => {
    const opening = at.open();
    at.pane.view.showOther({ prefix: 'dec' });
    await opening;
    expect(at.given.connector.last.showed).toEqual([{ prefix: 'dec' }]);
  });

  it('says why buttons can do nothing once the cluster is gone', async () => {
    await at.open();
    at.given.dashboards.set();
    const button = at.pane.node.querySelector<HTMLElement>('[data-name="table"]');
    expect(button?.getAttribute('aria-disabled')).toBe('true');
    expect(button?.title).toContain('gone');
    button?.click();
    expect(at.pane.node.querySelector('[role="dialog"]')).toBeNull();
    at.given.dashboards.set(at.own);
    expect(button?.getAttribute('aria-disabled')).toBe('false');
  });

  it('says that its cluster is still to come while it is waited for, and then that there is none', async () => {
    at.given.dashboards.set();
    const binding = { ...NO_BINDING, kernel: 'k', name: 'analysis.ipynb' };
    at.pane = new Pane({ plot: 'task-stream', binding, services: at.given }, 'key');
    Widget.attach(at.pane, document.body);
    const title = (): string | undefined =>
      at.pane.node.querySelector<HTMLElement>('[data-name="table"]')?.title;
    expect(title()).toContain('not there yet');
    jest.advanceTimersByTime(2 * LISTING_MS);
    expect(title()).toContain('has no cluster');
    at.given.dashboards.set(at.own);
    expect(title()).toBe('Data as a table');
  });

  it('leaves the browser’s own menu to its text fields alone', async () => {
    await at.open();
    const asked: (string | null)[] = [];
    const ask = (event: Event): void => void asked.push((event.target as Element).className);
    document.addEventListener('contextmenu', ask);
    const host = document.createElement('div');
    const root = host.attachShadow({ mode: 'open' });
    root.innerHTML = '<input type="text"><input type="checkbox"><select></select>';
    host.className = 'host';
    at.pane.view.node.append(host);
    for (const field of root.children) {
      field.dispatchEvent(
        new MouseEvent('contextmenu', { bubbles: true, composed: true, cancelable: true })
      );
    }
    document.removeEventListener('contextmenu', ask);
    expect(asked).toEqual(['host', 'host']);
  });

  it('tells its keys with how to read the plot', async () => {
    await at.open();
    await at.pane.toggleHelp();
    const keys = at.pane.node.querySelector('.jp-DaskDiag-keys');
    expect(keys?.querySelector('tr')?.textContent).toBe('WZoom in');
  });

  it('tells how to read the plot as a key, and as text', async () => {
    at.given.fetchHelp = () =>
      Promise.resolve('One bar.\n\n- solid: <i>done</i>\n- click: its\n  page\n\nHealthy: long.');
    await at.open();
    await at.pane.toggleHelp();
    const body = at.pane.node.querySelector('.jp-DaskDiag-cardBody');
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
    await at.open();
    await at.pane.toggleTable();
    const head = at.pane.node.querySelectorAll<HTMLElement>('thead button')[1];
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
    await at.open();
    await at.pane.toggleTable();
    at.pane.node.querySelectorAll<HTMLElement>('thead button')[1]?.click();
    at.pane.node.querySelector<HTMLElement>('.jp-DaskDiag-cardLinks button')?.click();
    await settled();
    expect(cells()[0]).toBe('b');
  });

  it('shows its data as a table, text as text', async () => {
    await at.open();
    await at.pane.toggleTable();
    expect(cells()).toEqual(['<b>a</b>', '1', 'b', '2']);
    expect(at.pane.node.querySelector('th:nth-child(2)')?.textContent).toBe('cpu (%)');
    expect(at.pane.node.querySelector('a')?.getAttribute('download')).toBe('task-stream.csv');
  });
});
