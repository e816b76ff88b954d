import { Widget } from '@lumino/widgets';

import { Favorites } from '../model/favorites';
import { Groups } from '../model/groups';
import { isNearEdge } from '../widgets/plotdrag';
import { Sidebar } from '../widgets/sidebar';
import { DashboardList, known } from './dashboards';
import { sidebarHost } from './sidebarhost';

describe('the sidebar', () => {
  let dashboards: DashboardList;
  let favorites: Favorites;
  let groups: Groups;
  let sidebar: Sidebar;
  let done: string[];
  let prepared: string[];

  const rows = (): HTMLElement[] =>
    [...sidebar.node.querySelectorAll<HTMLElement>('.jp-DaskDiag-plotItem')].filter(
      row => row.closest('[hidden]') === null
    );
  const names = (): (string | undefined)[] => rows().map(row => row.dataset['plot']);
  const search = (): HTMLInputElement => sidebar.node.querySelector('input')!;
  const type = (text: string): void => {
    search().value = text;
    search().dispatchEvent(new Event('input'));
  };
  const press = (key: string): void => {
    document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  };

  beforeEach(() => {
    dashboards = new DashboardList();
    favorites = new Favorites();
    groups = new Groups();
    groups.restore({ Workers: true });
    done = [];
    prepared = [];
    const host = sidebarHost({
      dashboards,
      favorites,
      groups,
      openPlot: (id, plot) => void done.push(`open ${plot} of ${id}`),
      preparePlot: (id, plot) => void prepared.push(`${plot} of ${id}`),
      openLayout: id => void done.push(`layout of ${id}`),
      openMenu: id => void done.push(`menu of ${id}`),
      insertClient: () => void done.push('insert')
    });
    dashboards.set(known({ id: 'a' }));
    sidebar = new Sidebar(host);
    Widget.attach(sidebar, document.body);
  });

  afterEach(() => sidebar.dispose());

  it('lists the plots of each dashboard in groups', () => {
    expect(names()).toEqual(['task-stream', 'progress', 'graph', 'workers-memory']);
    expect(rows()[0]?.dataset['dashboard']).toBe('a');
    const toggles = sidebar.node.querySelectorAll('.jp-DaskDiag-groupToggle');
    expect([...toggles].map(toggle => toggle.textContent)).toEqual(['Tasks3', 'Workers1']);
  });

  it('says what the cluster is and how far it is', () => {
    const section = sidebar.node.querySelector('section');
    expect(section?.textContent).toContain('4 workers · 8 threads · 16 GiB');
    const bar = sidebar.node.querySelector('[role="progressbar"]');
    expect(bar?.getAttribute('aria-valuenow')).toBe('400');
    expect(bar?.getAttribute('aria-valuetext')).toContain('1 failed');
  });

  it('filters by what plots show', () => {
    type('spill');
    expect(names()).toEqual(['workers-memory']);
    type('no such thing');
    expect(names()).toEqual([]);
    expect(sidebar.node.textContent).toContain('No plot matches “no such thing”.');
    const clear = [...sidebar.node.querySelectorAll('button')].find(
      button => button.textContent === 'Clear the search'
    );
    clear?.click();
    expect(names()).toHaveLength(4);
    expect(document.activeElement).toBe(search());
  });

  it('says why plots that there are elsewhere are not listed here', () => {
    for (const query of ['gpu', 'GPUs', 'nvidia', 'gpu mem']) {
      type(query);
      expect(sidebar.node.textContent).toContain('GPU: no worker reports one.');
    }
    type('rmm');
    expect(sidebar.node.textContent).toContain('RMM: no worker reports its memory.');
    type('gpu stream');
    expect(sidebar.node.textContent).not.toContain('no worker reports');
    const { plots } = known();
    const gpu = { name: 'gpu-memory', title: 'GPU Memory', group: 'Workers', description: '' };
    dashboards.set(known({ id: 'a', plots: [...plots, gpu] }));
    type('gpu');
    expect(names()).toEqual(['gpu-memory']);
    type('gpu card');
    expect(sidebar.node.textContent).not.toContain('no worker reports');
  });

  it('finds what was meant by a slip of the finger', () => {
    type('strem');
    expect(names()).toContain('task-stream');
    type('memry');
    expect(names()).toEqual(['workers-memory']);
  });

  it('opens the first match by Enter, a row by click', () => {
    type('progress');
    search().focus();
    press('Enter');
    rows()[0]?.querySelector('button')?.click();
    expect(done).toEqual(['open progress of a', 'open progress of a']);
  });

  it('is walked through by arrow keys with one tab stop', () => {
    search().focus();
    press('ArrowDown');
    press('ArrowDown');
    expect(document.activeElement?.closest('li')?.dataset['plot']).toBe('progress');
    press('ArrowRight');
    expect(document.activeElement?.getAttribute('aria-pressed')).toBe('false');
    press('ArrowLeft');
    press('End');
    expect(document.activeElement?.closest('li')?.dataset['plot']).toBe('workers-memory');
    const stops = sidebar.node.querySelectorAll('.jp-DaskDiag-plotButton[tabindex="0"]');
    expect(stops).toHaveLength(1);
  });

  it('has only the tasks and the user’s own open at first, and remembers what was opened', () => {
    const stored: object[] = [];
    const fresh = new Groups();
    fresh.edited.connect((_, choices) => void stored.push(choices));
    expect(['Tasks', 'Favourites', 'Workers', 'Yours'].map(name => fresh.isOpen(name))).toEqual([
      true,
      true,
      false,
      true
    ]);
    fresh.toggle('Workers');
    expect(stored).toEqual([{ Workers: true }]);
    const next = new Groups();
    next.restore({ ...stored[0], Tasks: false, Profile: 'x' });
    expect(['Tasks', 'Workers', 'Profile'].map(name => next.isOpen(name))).toEqual([
      false,
      true,
      false
    ]);
  });

  it('lists a plot that somebody registers, in sight', () => {
    const { plots } = known();
    const made = { name: 'mine', title: 'Mine', group: 'Yours', description: 'What I look at.' };
    dashboards.set(known({ id: 'a', plots: [...plots, made] }));
    expect(names().at(-1)).toBe('mine');
  });

  it('keeps the place of its rows while a kernel does not answer', () => {
    const parts = (): number => sidebar.node.querySelectorAll('section > :not([hidden])').length;
    const before = parts();
    dashboards.set(known({ id: 'a', state: 'unreachable', reason: 'Busy.', summary: null }));
    expect(parts()).toBe(before);
    expect(sidebar.node.querySelector('section')?.textContent).toContain('Busy.');
  });

  it('lists the plots of a closed cluster on, and says when that was', () => {
    const listed = names();
    const closed_at = new Date(2026, 0, 5, 13, 58).getTime() / 1000;
    dashboards.set(known({ id: 'a', state: 'stale', reason: null, closed_at }));
    expect(names()).toEqual(listed);
    const meta = sidebar.node.querySelector('.jp-DaskDiag-meta');
    const words = 'Cluster closed at 13:58 · history kept until the kernel stops';
    expect(meta?.textContent).toBe(words);
  });

  it('lets favourites float up and tells whoever stores them', () => {
    const stored: (readonly string[])[] = [];
    favorites.edited.connect((_, plots) => void stored.push(plots));
    rows()[2]?.querySelector<HTMLElement>('.jp-DaskDiag-star')?.click();
    expect(names()[0]).toBe('graph');
    expect(stored).toEqual([['graph']]);
  });

  it('keeps rows as they are while only numbers change', () => {
    const before = rows();
    const { summary } = known();
    dashboards.set(known({ id: 'a', summary: { ...summary!, workers: 9 } }));
    expect(rows()).toEqual(before);
    expect(rows()[0]).toBe(before[0]);
  });

  it('collapses a group, and opens it for a search', () => {
    const toggle = sidebar.node.querySelector<HTMLElement>('.jp-DaskDiag-groupToggle');
    toggle?.click();
    expect(names()).toEqual(['workers-memory']);
    const now = sidebar.node.querySelector('.jp-DaskDiag-groupToggle');
    expect(now?.getAttribute('aria-expanded')).toBe('false');
    type('stream');
    expect(names()).toEqual(['task-stream']);
  });

  it('prepares a plot at the press of the main button', () => {
    const button = rows()[0]!.querySelector('button')!;
    button.dispatchEvent(new PointerEvent('pointerdown', { button: 2 }));
    expect(prepared).toEqual([]);
    button.dispatchEvent(new PointerEvent('pointerdown', { button: 0 }));
    expect(prepared).toEqual(['task-stream of a']);
  });

  it('prepares nothing at a touch, with which a scroll begins', () => {
    const button = rows()[0]!.querySelector('button')!;
    button.dispatchEvent(new PointerEvent('pointerdown', { pointerType: 'touch' }));
    expect(prepared).toEqual([]);
  });

  it('opens a row by Enter after it was dragged', () => {
    const button = rows()[0]!.querySelector('button')!;
    const at = (x: number): MouseEventInit => ({ clientX: x, bubbles: true });
    button.dispatchEvent(new PointerEvent('pointerdown', at(0)));
    document.dispatchEvent(new PointerEvent('pointermove', at(50)));
    document.dispatchEvent(new PointerEvent('pointerup', at(50)));
    button.dispatchEvent(new MouseEvent('click', { detail: 1, bubbles: true }));
    expect(done).toEqual([]);
    button.dispatchEvent(new PointerEvent('pointerdown', at(0)));
    document.dispatchEvent(new PointerEvent('pointermove', at(50)));
    document.dispatchEvent(new PointerEvent('pointerup', at(50)));
    button.dispatchEvent(new MouseEvent('click', { detail: 0, bubbles: true })); // Enter
    expect(done).toEqual(['open task-stream of a']);
  });

  it('keeps its search when the header of a group is pressed', () => {
    type('stream');
    sidebar.node.querySelector<HTMLElement>('.jp-DaskDiag-groupToggle')?.click();
    expect(names()).toEqual(['task-stream']);
    type('');
    expect(names()).toHaveLength(4);
  });

  it('hides its tip with the row, also one that is still to come', () => {
    jest.useFakeTimers();
    const tip = (): HTMLElement | null => document.querySelector('.jp-DaskDiag-tip:not([hidden])');
    const enter = (): void => void rows()[0]?.dispatchEvent(new PointerEvent('pointerenter'));
    enter();
    jest.advanceTimersByTime(1000);
    expect(tip()).not.toBeNull();
    dashboards.set();
    expect(tip()).toBeNull();
    dashboards.set(known({ id: 'a' }));
    enter();
    dashboards.set();
    jest.advanceTimersByTime(1000);
    expect(tip()).toBeNull();
    jest.useRealTimers();
  });

  it('shows names as text, whatever they hold', () => {
    const name = '<img src=x onerror=alert(1)>';
    dashboards.set(known({ id: 'a', name, shownName: name, reason: name, state: 'unreachable' }));
    expect(sidebar.node.querySelector('img')).toBeNull();
    expect(sidebar.node.textContent).toContain(name);
  });

  it('offers code for a cluster when there is none', () => {
    dashboards.set();
    expect(sidebar.node.textContent).toContain('No Dask cluster is running here.');
    sidebar.node.querySelector<HTMLElement>('.jp-DaskDiag-insert')?.click();
    expect(done).toEqual(['insert']);
    expect(sidebar.title.className).toBe('');
  });

  it('has a dot at its icon while there is a cluster', () => {
    expect(sidebar.title.className).toBe('jp-DaskDiag-hasDashboards');
  });

  it('says that the server part is missing', () => {
    dashboards.feedState = 'missing';
    dashboards.set();
    expect(sidebar.node.textContent).toContain('The server part of dask_diag_lab');
  });

  it('tells two clusters apart by tags', () => {
    dashboards.set(known({ id: 'a' }), known({ id: 'b', tag: 1, shownName: 'other.ipynb' }));
    const tags = [...sidebar.node.querySelectorAll<HTMLElement>('.jp-DaskDiag-tag')];
    expect(tags.map(tag => [tag.textContent, tag.hidden])).toEqual([
      ['1', false],
      ['2', false]
    ]);
  });
});

describe('a dragged plot', () => {
  const box = { left: 100, top: 100, width: 400, height: 400 };

  it('is a pane near the edges of a document and a cell in its middle', () => {
    expect(isNearEdge({ clientX: 120, clientY: 300 }, box)).toBe(true);
    expect(isNearEdge({ clientX: 300, clientY: 490 }, box)).toBe(true);
    expect(isNearEdge({ clientX: 300, clientY: 300 }, box)).toBe(false);
  });
});
