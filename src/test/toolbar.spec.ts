/** The buttons of a pane in the room there is: all in a row, or the most of them in a menu. */

import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import { PaneStand } from './panestand';
import { settled } from './plots';

describe('the buttons of a pane', () => {
  const at = new PaneStand();

  // What is hidden loses the focus at once, in browsers other than this one.
  beforeEach(() => {
    const hide = Object.getOwnPropertyDescriptor(HTMLElement.prototype, 'hidden')!.set!;
    jest.spyOn(HTMLElement.prototype, 'hidden', 'set').mockImplementation(function (
      this: HTMLElement,
      isHidden
    ) {
      hide.call(this, isHidden);
      if (isHidden) {
        this.blur();
      }
    });
  });

  afterEach(() => jest.restoreAllMocks());

  const button = (name: string): HTMLButtonElement =>
    at.pane.node.querySelector<HTMLButtonElement>(`[data-name="${name}"]`)!;
  const resize = (width: number): void =>
    MessageLoop.sendMessage(at.pane, new Widget.ResizeMessage(width, 300));
  const row = (): (string | undefined)[] =>
    [...at.pane.node.querySelectorAll<HTMLElement>('.jp-DaskDiag-toolbar > button')]
      .filter(one => !one.hidden)
      .map(one => one.dataset['name']);
  const entries = (): HTMLElement[] => [
    ...document.querySelectorAll<HTMLElement>('.lm-Menu .lm-Menu-item')
  ];
  const press = (target: EventTarget, key: string, keyCode: number): boolean =>
    target.dispatchEvent(new KeyboardEvent('keydown', { key, keyCode, bubbles: true }));
  const openNarrow = async (): Promise<void> => {
    await at.open();
    resize(260);
  };

  it('are all in its row where there is room for them and the title', async () => {
    await at.open();
    resize(700);
    expect(row()).toEqual(['live', 'fit', 'table', 'picture', 'help', 'browser']);
  });

  it('are two in a narrow pane, where a menu has the others, until it is wide again', async () => {
    await openNarrow();
    expect(row()).toEqual(['live', 'more']);
    button('more').click();
    expect(entries().map(one => one.textContent)).toEqual([
      'Fit (F)',
      'Data as a table',
      'Save picture',
      'How to read this (?)',
      'Open in browser tab'
    ]);
    expect(button('more').getAttribute('aria-expanded')).toBe('true');
    resize(700);
    expect(row()).not.toContain('more');
  });

  it('have a menu that keys open, go through and run', async () => {
    await openNarrow();
    button('more').focus();
    button('more').click(); // what Enter does to a button
    const menu = document.querySelector('.lm-Menu')!;
    press(menu, 'ArrowDown', 40);
    press(menu, 'ArrowDown', 40);
    press(menu, 'ArrowDown', 40);
    press(menu, 'Enter', 13);
    await settled();
    expect(document.querySelector('.lm-Menu')).toBeNull();
    expect(document.activeElement?.getAttribute('aria-label')).toBe('How to read this');
  });

  it('have the focus again when their menu is left by Esc', async () => {
    await openNarrow();
    button('more').focus();
    button('more').click();
    press(document.querySelector('.lm-Menu')!, 'Escape', 27);
    expect(document.querySelector('.lm-Menu')).toBeNull();
    expect(document.activeElement).toBe(button('more'));
    expect(button('more').getAttribute('aria-expanded')).toBe('false');
  });

  it('close their menu with a second press, and open it with a third', async () => {
    await openNarrow();
    const isOpen = [1, 2, 3].map(() => {
      button('more').dispatchEvent(new MouseEvent('pointerdown', { bubbles: true }));
      button('more').dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 1 }));
      return document.querySelector('.lm-Menu') !== null;
    });
    expect(isOpen).toEqual([true, false, true]);
  });

  it('close their menu when the pane becomes wide, and keep the focus in their row', async () => {
    await openNarrow();
    button('more').click();
    resize(700);
    expect(document.querySelector('.lm-Menu')).toBeNull();
    expect(document.activeElement).toBe(button('browser'));
    expect(button('browser').tabIndex).toBe(0);
  });

  it('leave their menu open while the pane stays narrow', async () => {
    await openNarrow();
    button('more').click();
    resize(240);
    expect(entries()).toHaveLength(5);
  });

  it('say in their menu why one can do nothing', async () => {
    await openNarrow();
    at.given.dashboards.set();
    button('more').click();
    const table = entries().find(one => one.textContent?.startsWith('Data as a table'))!;
    expect(table.classList).toContain('lm-mod-disabled');
    expect(table.textContent).toContain('gone');
  });

  it('are reached by arrows where they are shown, with one stop for the Tab key', async () => {
    await openNarrow();
    button('live').focus();
    press(button('live'), 'ArrowRight', 39);
    expect(document.activeElement).toBe(button('more'));
    press(button('more'), 'ArrowRight', 39);
    expect(document.activeElement).toBe(button('live'));
    const stops = [...at.pane.node.querySelectorAll('.jp-DaskDiag-toolbar > [tabindex="0"]')];
    expect(stops).toEqual([button('live')]);
  });

  it('keep the focus in their row when the one that has it goes into the menu', async () => {
    await at.open();
    button('help').focus();
    resize(260);
    expect(document.activeElement).toBe(button('more'));
    expect([button('more').tabIndex, button('help').tabIndex]).toEqual([0, -1]);
  });

  it('leave no menu behind when their pane is closed', async () => {
    await openNarrow();
    button('more').click();
    at.pane.dispose();
    expect(document.querySelector('.lm-Menu')).toBeNull();
  });
});
