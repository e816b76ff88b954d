import { Widget } from '@lumino/widgets';

import type { IDashboard } from '../api/protocol';
import { found, grouped, whyUnlisted } from '../widgets/catalogue';
import { Sidebar, type ISidebarHost } from '../widgets/sidebar';
import { SidebarModel } from '../widgets/sidebarmodel';
import { dashboard, DashboardList, trans } from './dashboards';

// Its web component is more than jsdom can draw; a search is set at the model.
jest.mock('@jupyterlab/ui-components', () => ({
  ...jest.requireActual<object>('@jupyterlab/ui-components'),
  FilterBox: () => null
}));

const plot = (name: string, title: string, group: string): IDashboard['plots'][number] => ({
  name,
  title,
  group,
  description: `What ${title} shows`
});
const PLOTS = [
  plot('task-stream', 'Task Stream', 'Tasks'),
  plot('progress', 'Progress', 'Tasks'),
  plot('workers-memory', 'Workers Memory', 'Workers')
];
const one = dashboard({ id: 'one', kernel_id: 'k1', shownName: 'a.ipynb', plots: PLOTS });
const two = { ...one, id: 'two', kernel_id: 'k2', shownName: 'b.ipynb' };

describe('a search', () => {
  const names = (query: string): string[] => found(PLOTS, query).map(({ name }) => name);

  it('finds what people call a plot, and what they misspell', () => {
    expect(names('STREAM')).toEqual(['task-stream']);
    expect(names('spill')).toEqual(['workers-memory']);
    expect(names('memry')).toEqual(['workers-memory']);
    expect(names('nothing like this')).toEqual([]);
  });

  it('puts favourites in front of the groups', () => {
    const groups = grouped(PLOTS, '', new Set(['progress']));
    expect(groups.map(({ name }) => name)).toEqual(['Favourites', 'Tasks', 'Workers']);
  });

  it('says why plots of GPUs are not listed', () => {
    expect(whyUnlisted('gpu', PLOTS, trans)).toContain('no worker reports one');
    expect(whyUnlisted('progress', PLOTS, trans)).toBe('');
  });
});

describe('the order of clusters', () => {
  const list = new DashboardList();
  let kernel: string | undefined;
  const model = new SidebarModel(list, () => kernel);
  const ids = (): string[] => model.dashboards().map(({ id }) => id);

  it('has that of the notebook in front first, and closed ones last', () => {
    list.set(one, two);
    expect(ids()).toEqual(['two', 'one']);
    kernel = 'k1';
    expect(ids()).toEqual(['one', 'two']);
    expect(list.all.map(each => model.isOpen(each))).toEqual([true, false]);
    list.set({ ...one, state: 'stale' }, two);
    expect(ids()).toEqual(['two', 'one']);
  });

  it('stays while the pointer is in the list', () => {
    list.set(one, two);
    expect(ids()).toEqual(['one', 'two']);
    model.isHovered = () => true;
    kernel = 'k2';
    list.set(one, two, { ...one, id: 'three', kernel_id: 'k3' });
    expect(ids()).toEqual(['one', 'two', 'three']);
  });
});

describe('the sidebar', () => {
  const list = new DashboardList();
  let host: ISidebarHost;
  let sidebar: Sidebar;
  let favorites: Set<string>;

  beforeEach(async () => {
    favorites = new Set();
    const model = new SidebarModel(list, () => 'k1');
    list.changed.connect(() => model.update());
    host = {
      dashboards: list,
      model,
      trans,
      get favorites() {
        return favorites;
      },
      toggleFavorite: jest.fn(),
      openPlot: jest.fn(),
      openLayout: jest.fn(),
      createPane: jest.fn(),
      insertCell: jest.fn(),
      openMenu: jest.fn(),
      insertClient: jest.fn()
    };
    sidebar = new Sidebar(host);
    await show(one);
  });
  afterEach(() => sidebar.dispose());

  async function show(...all: Parameters<DashboardList['set']>): Promise<void> {
    if (!sidebar.isAttached) {
      Widget.attach(sidebar, document.body);
    }
    list.set(...all);
    await new Promise(resolve => setTimeout(resolve, 20)); // React draws in a task of its own
  }
  const rows = (): HTMLElement[] =>
    [...sidebar.node.querySelectorAll<HTMLElement>('.jp-DaskDiag-plotItem')].filter(
      row => row.closest('[hidden]') === null
    );
  const button = (name: string): HTMLElement =>
    [...sidebar.node.querySelectorAll('button')].find(each => each.textContent === name)!;

  it('lists a cluster with what it has, and its plots', () => {
    expect(rows().map(row => row.dataset['plot'])).toEqual(['task-stream', 'progress']);
    expect(sidebar.node.textContent).toContain('4 workers · 8 threads · 16 GiB');
    expect(sidebar.title.className).toBe('jp-DaskDiag-hasDashboards');
  });

  it('opens a plot, the usual four, a menu, and keeps a favourite', () => {
    rows()[0]?.querySelector<HTMLElement>('.jp-DaskDiag-plotButton')?.click();
    expect(host.openPlot).toHaveBeenCalledWith('one', 'task-stream');
    button('Open the usual four').click();
    expect(host.openLayout).toHaveBeenCalledWith('one');
    rows()[1]?.querySelector<HTMLElement>('.jp-DaskDiag-star')?.click();
    expect(host.toggleFavorite).toHaveBeenCalledWith('progress');
  });

  it('lists only what a search finds, and says so where that is nothing', async () => {
    host.model.query = 'memory';
    await show(one);
    expect(rows().map(row => row.dataset['plot'])).toEqual(['workers-memory']);
    host.model.query = 'gpu';
    await show(one);
    expect(sidebar.node.textContent).toContain(
      'No plot matches “gpu”. GPU: no worker reports one.'
    );
  });

  it('goes through its rows with the arrow keys', () => {
    const focus = (): string | undefined =>
      document.activeElement?.closest<HTMLElement>('[data-plot]')?.dataset['plot'];
    const press = (key: string): void =>
      void document.activeElement?.dispatchEvent(
        new KeyboardEvent('keydown', { key, bubbles: true })
      );
    rows()[0]?.querySelector<HTMLElement>('button')?.focus();
    press('ArrowDown');
    expect(focus()).toBe('progress');
    press('Home');
    expect(focus()).toBe('task-stream');
    press('ArrowRight');
    expect(document.activeElement?.className).toBe('jp-DaskDiag-star');
  });

  it('says what to do where there is no cluster, and what is wrong where none can be known', async () => {
    await show();
    button('Insert code for a local cluster').click();
    expect(host.insertClient).toHaveBeenCalled();
    list.feedState = 'missing';
    await show();
    expect(sidebar.node.textContent).toContain('The server part of dask_diag_lab does not answer.');
    list.feedState = 'live';
  });
});
