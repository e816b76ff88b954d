import { MessageLoop } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';

import type { IDashboard } from '../protocol/dashboard';
import { found, grouped } from '../widgets/catalogue';
import { Sidebar, type ISidebarHost } from '../widgets/sidebar';
import { CommandIDs } from '../tokens';
import { dashboard, DashboardList, RUN, trans } from './dashboards';
import { services } from './services';
import { settled, until } from './plots';

// Lab brings it, without its types.
const { flushSync } = jest.requireActual<{ flushSync(draw: () => void): void }>('react-dom');

// Its web component is more than jsdom can draw; a search is set at the sidebar.
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
  { ...plot('workers-memory', 'Workers Memory', 'Workers'), keywords: ['spill'] }
];
const one = dashboard({ id: 'one', kernel_id: 'k1', shownName: 'a.ipynb', plots: PLOTS });
const two = { ...one, id: 'two', kernel_id: 'k2', shownName: 'b.ipynb' };

describe('a search', () => {
  const names = (query: string): string[] => found(PLOTS, query).map(({ name }) => name);

  it('finds what people call a plot', () => {
    expect(names('STREAM')).toEqual(['task-stream']);
    expect(names('spill')).toEqual(['workers-memory']);
    expect(names('nothing like this')).toEqual([]);
  });

  it('has first what is called so', () => {
    const about = { ...PLOTS[1]!, description: 'As Workers Memory, of tasks' };
    expect(found([about, PLOTS[2]!], 'workers').map(({ name }) => name)).toEqual([
      'workers-memory',
      'progress'
    ]);
  });

  it('puts favourites in front of the groups', () => {
    const groups = grouped(PLOTS, '', new Set(['progress']), trans);
    expect(groups.map(({ name }) => name)).toEqual(['Favourites', 'Tasks', 'Workers']);
  });
});

describe('the sidebar', () => {
  const list = new DashboardList();
  let host: ISidebarHost;
  let sidebar: Sidebar;
  let kernel: string;
  let executed: [string, unknown][];

  beforeEach(async () => {
    kernel = 'k1';
    executed = [];
    const given = services(list);
    for (const id of Object.values(CommandIDs)) {
      given.commands.addCommand(id, { execute: args => void executed.push([id, args]) });
    }
    host = {
      services: given,
      favorites: new Set(),
      frontKernel: () => kernel,
      createPane: jest.fn(),
      insertCell: jest.fn(),
      onGroups: jest.fn()
    };
    sidebar = new Sidebar(host);
    await show(one);
    await until(() => rows().length > 0); // the first time takes longer
  });
  afterEach(() => sidebar.dispose());

  async function show(...all: Parameters<DashboardList['set']>): Promise<void> {
    if (!sidebar.isAttached) {
      Widget.attach(sidebar, document.body);
    }
    list.set(...all);
    flushSync(() => MessageLoop.sendMessage(sidebar, Widget.Msg.UpdateRequest));
    await settled();
  }
  const rows = (): HTMLElement[] =>
    [...sidebar.node.querySelectorAll<HTMLElement>('.jp-DaskDiag-plotItem')].filter(
      row => row.closest('[hidden]') === null
    );
  const ids = (): string[] => {
    MessageLoop.sendMessage(sidebar, Widget.Msg.UpdateRequest);
    return sidebar.dashboards.map(({ id }) => id);
  };
  const button = (name: string): HTMLElement =>
    [...sidebar.node.querySelectorAll('button')].find(each => each.textContent === name)!;

  it('lists a cluster with what it has, and its plots', () => {
    expect(rows().map(row => row.dataset['plot'])).toEqual(['task-stream', 'progress']);
    expect(sidebar.node.textContent).toContain('4 workers · 8 threads · 16 GiB');
    expect(sidebar.title.className).toBe('jp-DaskDiag-hasDashboards');
  });

  it('has the cluster of the notebook in front first and open, and closed ones last', () => {
    list.set(one, two);
    expect(ids()).toEqual(['one', 'two']);
    expect(list.all.map(each => sidebar.isOpen(each))).toEqual([true, false]);
    kernel = 'k2';
    expect(ids()).toEqual(['two', 'one']);
    list.set({ ...one, state: 'stale' }, two);
    kernel = 'k3';
    expect(ids()).toEqual(['two', 'one']);
    expect(list.all.map(each => sidebar.isOpen(each))).toEqual([false, false]);
  });

  it('lists last what can have no data, and says why', async () => {
    const [stream, ...others] = one.plots;
    await show({ ...one, plots: [{ ...stream!, unavailable: 'No GPU.' }, ...others] });
    expect(rows().map(row => row.dataset['plot'])).toEqual(['progress', 'task-stream']);
    expect(rows()[1]?.title).toMatch(/^No GPU\.\n/);
  });

  it('moves nothing under the pointer', () => {
    list.set(one, two);
    expect(ids()).toEqual(['one', 'two']);
    const hover = jest.spyOn(sidebar.node, 'matches').mockReturnValue(true); // jsdom has no pointer
    kernel = 'k2';
    expect(ids()).toEqual(['one', 'two']);
    hover.mockRestore();
    expect(ids()).toEqual(['two', 'one']);
    kernel = 'k1';
  });

  it.each([[[]], [[RUN]]])('lists a new run once the pointer rests, after %p', async before => {
    const runs = jest.spyOn(host.services.runs, 'of').mockReturnValue(before);
    await show(one);
    sidebar.node.dispatchEvent(new Event('pointermove'));
    runs.mockReturnValue([{ ...RUN, number: 4 }, ...before]);
    await show(one);
    const shown = (): number => sidebar.node.querySelectorAll('[data-run]').length;
    expect(shown()).toBe(before.length);
    await until(() => shown() === before.length + 1);
    runs.mockRestore();
  });

  it('opens a plot, the usual four, and keeps a favourite', () => {
    rows()[0]?.querySelector<HTMLElement>('.jp-DaskDiag-plotButton')?.click();
    button('Open the usual four').click();
    rows()[1]?.querySelector<HTMLElement>('.jp-DaskDiag-star')?.click();
    expect(executed).toEqual([
      [CommandIDs.openPlot, { dashboard: 'one', plot: 'task-stream' }],
      [CommandIDs.openLayout, { dashboard: 'one' }],
      [CommandIDs.toggleFavorite, { plot: 'progress' }]
    ]);
  });

  it('keeps which groups are open', async () => {
    sidebar.restoreGroups({ Tasks: false, Workers: true });
    await show(one);
    expect(rows().map(row => row.dataset['plot'])).toEqual(['workers-memory']);
    button('Workers').click();
    expect(host.onGroups).toHaveBeenCalledWith({ Tasks: false, Workers: false });
  });

  it('says which worker died and why, while the cluster lives', async () => {
    const time = new Date(2026, 4, 5, 14, 2, 31).getTime() / 1000;
    const losses = { workers: 1, text: 'worker 2 died: no heartbeat', time };
    const summary = { ...one.summary!, losses };
    await show({ ...one, summary });
    expect(sidebar.node.textContent).toContain(`⚠ 14:02:31 · ${losses.text}`);
    await show({ ...one, summary, state: 'stale' });
    expect(sidebar.node.textContent).not.toContain('died');
  });

  it('warns of tasks that no worker is left for', async () => {
    const tasks = { total: 5, done: 2, erred: 1, processing: 0 };
    const summary = { ...one.summary!, workers: 0, tasks, losses: undefined };
    await show({ ...one, summary });
    const mark = sidebar.node.querySelector<HTMLElement>('h3 [role="img"]')!;
    expect([mark.textContent, mark.title]).toEqual(['⚠', 'no workers']);
    await show({ ...one, summary: { ...summary, tasks: { ...tasks, done: 4 } } });
    expect([mark.textContent, mark.title]).toEqual(['●', 'Live']);
  });

  it('goes through its rows with the arrow keys, and past them with Tab', async () => {
    const runs = jest.spyOn(host.services.runs, 'of');
    runs.mockReturnValue([{ ...RUN, number: 4 }, RUN]);
    await show(one);
    const focus = (): string | undefined => {
      const { run, plot } = document.activeElement?.closest('li')?.dataset ?? {};
      return run ?? plot;
    };
    const stops = (): number[] =>
      [...sidebar.node.querySelectorAll<HTMLElement>('[data-run] button')].map(one => one.tabIndex);
    const press = (key: string): void =>
      void document.activeElement?.dispatchEvent(
        new KeyboardEvent('keydown', { key, bubbles: true })
      );
    expect(stops()).toEqual([0, -1]);
    rows()[0]?.querySelector<HTMLElement>('button')?.focus();
    press('ArrowDown');
    expect(focus()).toBe('progress');
    press('Home');
    expect(focus()).toBe('4');
    press('ArrowDown');
    expect(focus()).toBe('3');
    expect(stops()).toEqual([-1, 0]);
    sidebar.node.querySelector<HTMLElement>('[data-run="3"] button')?.focus();
    press('ArrowDown');
    expect(focus()).toBe('task-stream');
    press('ArrowRight');
    expect(document.activeElement?.className).toBe('jp-DaskDiag-star');
  });

  it('compares a run with the one that is shown', async () => {
    const { runs } = host.services;
    const spies = [
      jest.spyOn(runs, 'of').mockReturnValue([{ ...RUN, number: 4 }, RUN]),
      jest.spyOn(runs, 'besides').mockReturnValue(['one', 4])
    ];
    await show(one);
    sidebar.node
      .querySelector('[data-run="3"] button')
      ?.dispatchEvent(new MouseEvent('click', { ctrlKey: true, bubbles: true }));
    const pair = { dashboard: 'one', run: 3, otherDashboard: 'one', other: 4 };
    expect(executed).toEqual([[CommandIDs.compareRuns, pair]]);
    spies.forEach(spy => spy.mockRestore());
  });

  it('says what to do where there is no cluster, and what is wrong where none can be known', async () => {
    await show();
    button('Insert code for a local cluster').click();
    expect(executed).toEqual([[CommandIDs.insertClient, {}]]);
    list.feedState = 'missing';
    await show();
    expect(sidebar.node.textContent).toContain('The server part of dask_diag_lab does not answer.');
    list.feedState = 'live';
  });
});
