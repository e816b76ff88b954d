/** Stars in the sidebar, whose rows do not move under a hand. */

import { Widget } from '@lumino/widgets';

import { Sidebar } from '../widgets/sidebar';
import { DashboardList, known } from './dashboards';
import { sidebarHost } from './sidebarhost';

describe('a star of the sidebar', () => {
  let sidebar: Sidebar;

  beforeEach(() => {
    const dashboards = new DashboardList();
    dashboards.set(known({ id: 'a' }));
    sidebar = new Sidebar(sidebarHost({ dashboards }));
    Widget.attach(sidebar, document.body);
  });

  afterEach(() => sidebar.dispose());

  const rows = (): HTMLElement[] => [...sidebar.node.querySelectorAll<HTMLElement>('li')];
  const names = (): (string | undefined)[] => rows().map(row => row.dataset['plot']);

  it('is shown at once, and sorts when neither pointer nor focus is there', async () => {
    const star = rows()
      .find(row => row.dataset['plot'] === 'graph')!
      .querySelector<HTMLElement>('.jp-DaskDiag-star')!;
    const [before, list] = [rows(), names()];
    sidebar.node.dispatchEvent(new PointerEvent('pointerenter'));
    star.focus();
    star.click();
    const words = 'Remove Task Graph from favourites';
    expect(star.getAttribute('aria-pressed')).toBe('true');
    expect([star.title, star.getAttribute('aria-label')]).toEqual([words, words]);
    expect([rows(), document.activeElement]).toEqual([before, star]);
    star.click();
    expect(star.getAttribute('aria-pressed')).toBe('false');
    star.click();
    sidebar.node.dispatchEvent(new PointerEvent('pointerleave'));
    expect(names()).toEqual(list);
    star.blur();
    await Promise.resolve();
    expect(names()).toEqual(['graph', ...list.filter(name => name !== 'graph')]);
    expect(rows()[0]?.querySelector('[aria-pressed="true"]')).not.toBeNull();
  });
});
