/** What the keys do in the sidebar beside walking. */

import { CommandRegistry } from '@lumino/commands';
import { MessageLoop } from '@lumino/messaging';
import { Menu, Widget } from '@lumino/widgets';

import { Favorites } from '../model/favorites';
import { Sidebar } from '../widgets/sidebar';
import { DashboardList, known } from './dashboards';
import { sidebarHost } from './sidebarhost';

describe('the sidebar by keyboard', () => {
  it('opens the context menu of the row that has the focus', () => {
    const dashboards = new DashboardList();
    dashboards.set(known({ id: 'a' }));
    const sidebar = new Sidebar(sidebarHost({ dashboards }));
    Widget.attach(sidebar, document.body);
    const asked: (string | undefined)[] = [];
    document.addEventListener('contextmenu', event => {
      const row = event.target as HTMLElement; // what it was dispatched at
      asked.push(event.shiftKey ? 'the browser’s own' : row.dataset['plot']);
    });
    const row = sidebar.node.querySelector<HTMLElement>('.jp-DaskDiag-plotButton');
    row?.focus();
    const key = new KeyboardEvent('keydown', { key: 'F10', shiftKey: true, bubbles: true });
    row?.dispatchEvent(key);
    expect(asked).toEqual(['task-stream']);
    sidebar.dispose();
  });

  it('has the focus in its row again when the menu is closed, also in one that was made anew', async () => {
    const dashboards = new DashboardList();
    const favorites = new Favorites();
    dashboards.set(known({ id: 'a' }));
    const sidebar = new Sidebar(sidebarHost({ dashboards, favorites }));
    Widget.attach(sidebar, document.body);
    const menu = new Menu({ commands: new CommandRegistry() });
    const openMenu = (): void => menu.open(0, 0);
    document.addEventListener('contextmenu', openMenu);
    const row = (): HTMLElement | null =>
      sidebar.node.querySelector('[data-plot="progress"] button');
    const before = row();
    before?.focus();
    before?.dispatchEvent(
      new KeyboardEvent('keydown', { key: 'F10', shiftKey: true, bubbles: true })
    );
    MessageLoop.flush();
    expect(document.activeElement).toBe(menu.node);
    favorites.toggle('progress');
    menu.close();
    MessageLoop.flush();
    await Promise.resolve();
    expect(row()).not.toBe(before);
    expect(document.activeElement).toBe(row());
    document.removeEventListener('contextmenu', openMenu);
    sidebar.dispose();
  });
});
