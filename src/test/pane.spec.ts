import type { ILabShell, JupyterFrontEnd } from '@jupyterlab/application';
import { Widget } from '@lumino/widgets';

import { PaneManager } from '../plugins/panemanager';
import { Settings } from '../plugins/settings';
import { NO_ARGUMENTS } from '../protocol/control';
import { bindingOf, type IBinding } from '../widgets/binding';
import { paneFor, type PlotPane } from '../widgets/pane';
import { PlotWidget } from '../widgets/plotwidget';
import { dashboard } from './dashboards';
import { FakeApp, services } from './services';

const own = dashboard({ id: 'own', kernel_id: 'k1', notebook: 'a.ipynb' });
const next = { ...own, id: 'next' };

describe('a pane', () => {
  let pane: PlotPane;
  const given = services();
  const { dashboards } = given;

  beforeEach(() => {
    dashboards.set(own);
    pane = paneFor({ plot: 'progress', binding: bindingOf(own), services: given }, 'k') as PlotPane; // one of ours;
    Widget.attach(pane, document.body);
  });
  afterEach(() => pane.dispose());

  const message = (): string =>
    pane.node.querySelector('.jp-DaskDiag-message')?.textContent?.trim() ?? '';

  it('names its plot and its dashboard, with a tag where there are several', () => {
    const { plot, dashboard: id, state } = pane.node.dataset;
    expect([plot, id, state]).toEqual(['progress', 'own', 'connecting']);
    expect(pane.title.label).toBe('Progress');
    expect(pane.title.dataset['tag']).toBeUndefined();
    dashboards.set(own, { ...next, kernel_id: 'k2', notebook: 'b.ipynb' });
    expect(pane.title.dataset['tag']).toMatch(/^[A-Z]$/);
  });

  it('follows the next cluster of its kernel once its own has ended', () => {
    dashboards.set({ ...own, state: 'stale' }, next);
    expect(pane.node.dataset['dashboard']).toBe('next');
  });

  it('says what to do while there is no cluster, and comes back with the next one', () => {
    dashboards.set();
    expect(message()).toContain('Run the cell that makes the client again');
    expect(pane.node.dataset['state']).toBe('offline');
    dashboards.set(next);
    expect(pane.node.dataset['dashboard']).toBe('next');
  });

  it.each([
    [{ state: 'unreachable', reason: 'The kernel is busy.' }, 'The kernel is busy.'],
    [{ kind: 'stock' }, 'has no plot'],
    [{ plots: own.plots.filter(({ name }) => name !== 'progress') }, 'has no plot']
  ] as const)('says what is wrong with its dashboard: %j', (values, words) => {
    dashboards.set({ ...own, ...values });
    expect(message()).toContain(words);
  });
});

describe('the panes', () => {
  const given = services();
  const app = Object.assign(new FakeApp(), { commands: given.commands });
  const labShell = { mode: 'multiple-document' } as ILabShell; // all that is asked of it
  const front = app as unknown as JupyterFrontEnd; // as above
  given.dashboards.set(own);
  const settings = new Settings(null, given.trans);
  const shared = { app: front, services: given, settings, notebooks: null };
  const panes = new PaneManager(shared, labShell);

  it('are opened once a plot, beside each other, and reused for another choice', () => {
    const binding = bindingOf(own);
    const first = panes.open('profile', binding, { arguments: { prefix: 'inc' } });
    expect(panes.open('profile', binding, { arguments: { prefix: 'dec' } })).toBe(first);
    expect(first.content.heading).toBe('Profile: dec');
    expect(panes.open('profile', binding, { arguments: {} })).not.toBe(first);
    expect(app.added[0]?.[1]).toMatchObject({ mode: 'split-right' });
    expect(panes.of(binding)).toHaveLength(2);
  });

  it('ask once, cells as well, which cluster they follow, where nothing tells it', () => {
    const others = [own, { ...own, id: 'b', shownName: 'b' }];
    given.dashboards.set(...others);
    const [first, second] = ['progress', 'cpu'].map(plot =>
      panes.open(plot, bindingOf(others[1]!))
    );
    const cell = new PlotWidget({
      plot: 'budget',
      binding: second!.content.binding,
      services: given
    });
    given.dashboards.set({ ...next, shownName: 'new' });
    const buttons = second!.node.querySelectorAll<HTMLElement>('.jp-DaskDiag-message button');
    expect([...buttons].map(one => one.textContent)).toEqual(['Follow new']);
    buttons[0]?.click();
    for (const pane of [first!, second!]) {
      expect(pane.node.dataset['dashboard']).toBe('next');
      expect(pane.node.querySelector('.jp-DaskDiag-message button')).toBeNull();
      pane.dispose();
    }
    expect(cell.binding.dashboard).toBe('next');
    cell.dispose();
    given.dashboards.set(own);
  });

  it('lead back to what was clicked, also where that was closed', () => {
    const binding = bindingOf(own);
    const clicked = panes.open('budget', binding);
    (clicked as PlotPane).content.live.onLink({ plot: 'task-stream', arguments: {}, n: 1 });
    const { back } = panes.find('task-stream', binding)!;
    back?.();
    expect(app.activated.at(-1)).toBe(clicked.id);
    clicked.dispose();
    back?.();
    expect(app.activated.at(-1)).toBe(panes.find('budget', binding)?.id);
    panes.closeAll(binding);
  });

  it('do not go to the streams of a comparison, which lie over the notebook', () => {
    const binding = bindingOf(own);
    const [first, stream] = [NO_ARGUMENTS, { run: '3' }].map(given =>
      panes.create('task-stream', binding, given)
    );
    Widget.attach(first!, document.body);
    Widget.attach(stream!, document.body);
    panes.open('progress', binding);
    expect(app.added.at(-1)?.[1]).toMatchObject({ mode: 'tab-after', ref: first!.id });
    panes.closeAll(binding);
  });

  it('that wait for a cluster are of the notebook for which they were opened', () => {
    const waiting = (kernel: string): IBinding => ({
      dashboard: '',
      kernel,
      notebook: null,
      name: kernel
    });
    const first = panes.open('progress', waiting('k8'));
    const second = panes.open('progress', waiting('k9'));
    expect(second).not.toBe(first);
    panes.closeAll(waiting('k9'));
    expect([first.isDisposed, second.isDisposed]).toEqual([false, true]);
    first.dispose();
  });
});
