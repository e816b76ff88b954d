/** What plots of a notebook's older cluster say of its newer one, and where they go. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { MimeModel } from '@jupyterlab/rendermime';
import { Widget } from '@lumino/widgets';

import { savedBinding } from '../model/binding';
import type { IKnownDashboard } from '../model/dashboards';
import { NewClusters } from '../plugins/newclusters';
import { PaneList } from '../plugins/panelist';
import { MimeTypes } from '../tokens';
import { OutputPlot } from '../widgets/outputplot';
import type { IPaneState, Pane } from '../widgets/pane';
import { NO_ARGUMENTS } from '../wire';
import { known } from './dashboards';
import { services, settled, type ITestServices } from './plots';

// All of Lab's notebook would be loaded for a name that is not used without a notebook.
jest.mock('@jupyterlab/notebook', () => ({ INotebookTracker: {} }));

describe('a newer cluster of the same notebook', () => {
  const cluster = (id: string, values: Partial<IKnownDashboard> = {}): IKnownDashboard =>
    known({ id, kernel_id: 'k', scheduler: { id, address: '' }, ...values });
  const old = cluster('old', { firstSeen: 1000 });
  const newer = cluster('newer', { tag: 1, firstSeen: 500_000, lastLive: 500_000 });

  const newest = cluster('newest', { firstSeen: 900_000 });

  let given: ITestServices;
  let list: PaneList;
  let panes: Pane[];

  const hint = (pane: Pane): HTMLElement => pane.node.querySelector('.jp-DaskDiag-newer')!;
  const press = (pane: Pane, name: string): void =>
    [...hint(pane).querySelectorAll('button')]
      .find(button => (button.getAttribute('aria-label') ?? button.textContent) === name)
      ?.click();
  const isTold = (): boolean[] => panes.map(pane => !hint(pane).hidden);
  /** Close all panes, and open them from what they have saved. */
  const reload = (): void => {
    const saved = panes.map(pane => JSON.stringify(pane.state));
    panes.splice(0).forEach(pane => pane.dispose());
    panes = saved.map(text => {
      const { plot, key, binding } = JSON.parse(text) as IPaneState; // as it was saved
      return list.make(plot, savedBinding(binding)!, key, NO_ARGUMENTS);
    });
  };
  const shown = (): string[] => panes.map(pane => pane.view.binding.dashboard);

  beforeEach(async () => {
    given = services();
    const shell = {
      add: (widget: Widget) => Widget.attach(widget, document.body),
      activateById: () => undefined
    };
    list = new PaneList({ shell } as unknown as JupyterFrontEnd, given, null, null); // as is used
    given.dashboards.set(old);
    panes = ['task-stream', 'progress'].map(plot => list.open(plot, 'old'));
    await settled();
  });

  afterEach(() => {
    panes.forEach(pane => pane.dispose());
    given.look.dispose();
  });

  it('is told in all panes of the older one, which stay where they are', () => {
    expect(isTold()).toEqual([false, false]);
    given.dashboards.set(old, newer);
    expect(isTold()).toEqual([true, true]);
    expect(hint(panes[0]!).textContent).toBe('Newer cluster in this notebook2Show it');
    expect(shown()).toEqual(['old', 'old']);
  });

  it('is none of another notebook, that began before, or that does not live', () => {
    const other = { ...newer, kernel_id: 'k2', notebook: 'other.ipynb' };
    for (const all of [
      [old, other],
      [newer, old],
      [old, { ...newer, state: 'stale' as const }]
    ]) {
      given.dashboards.set(...all);
      expect(isTold()).toEqual([false, false]);
    }
  });

  it('is shown in all of them by one press, but for a picture that is frozen', async () => {
    panes.push(list.open('graph', 'old'));
    await settled();
    given.connector.last.say({ frozen: true });
    given.dashboards.set(old, newer);
    press(panes[0]!, 'Show it');
    await settled();
    expect(shown()).toEqual(['newer', 'newer', 'old']);
    expect(isTold()).toEqual([false, false, true]);
    expect(panes[0]!.node.textContent).toContain('picture of newer');
    press(panes[2]!, 'Show it');
    expect(shown()[2]).toBe('newer');
  });

  it('is remembered by the panes that went there', async () => {
    given.dashboards.set(old, newer);
    const told: string[] = [];
    panes[1]!.stateChanged.connect((_, { binding }) => void told.push(binding.dashboard));
    press(panes[0]!, 'Show it');
    expect(told).toEqual(['newer']);
    given.dashboards.set(newer);
    expect(shown()).toEqual(['newer', 'newer']);
  });

  it('is not told again where the user stays, until there is one more', () => {
    given.dashboards.set(old, newer);
    press(panes[0]!, 'Stay with this cluster');
    expect(isTold()).toEqual([false, false]);
    given.dashboards.set(old, newer, newest);
    expect(isTold()).toEqual([true, true]);
  });

  it('is not told again after a reload where the user stays, but where nobody was asked', () => {
    given.dashboards.set(old, newer);
    reload();
    expect(isTold()).toEqual([true, true]);
    press(panes[0]!, 'Stay with this cluster');
    reload();
    expect(isTold()).toEqual([false, false]);
    given.dashboards.set(old, newer, newest);
    expect(isTold()).toEqual([true, true]);
  });

  it('is not told in a pane that is opened on the older one beside it, but one more is', () => {
    given.dashboards.set(old, newer);
    panes.push(list.open('graph', 'old'));
    expect(isTold()).toEqual([true, true, false]);
    given.dashboards.set(old, newer, newest);
    expect(isTold()).toEqual([true, true, true]);
  });

  it('is shown in both of two equal panes, whichever is pressed', () => {
    const { binding } = panes[1]!.state;
    panes.push(list.make('progress', binding, 'second', NO_ARGUMENTS));
    given.dashboards.set(old, newer);
    press(panes[2]!, 'Show it');
    expect(shown()).toEqual(['newer', 'newer', 'newer']);
  });

  it('is not told where the same plot of it is open', () => {
    given.dashboards.set(old, newer);
    panes.push(list.open('progress', 'newer'));
    expect(isTold()).toEqual([true, false, false]);
    panes.pop()?.dispose();
    expect(isTold()).toEqual([true, true]);
  });

  it('is offered also when the older one has ended', () => {
    given.dashboards.set({ ...old, lastLive: 900_000 }, newer);
    given.dashboards.set(newer);
    expect(shown()).toEqual(['old', 'old']); // it ran beside it: no successor
    expect(isTold()).toEqual([true, true]);
  });

  it('is none that began before one that has left the list, or of one that nobody saw', () => {
    given.dashboards.set(old, newer);
    panes.splice(0).forEach(pane => pane.dispose());
    panes = [list.open('progress', 'newer')];
    const lost = { ...panes[0]!.state.binding, dashboard: 'lost', beside: ['old', 'newer'] };
    panes.push(list.make('progress', lost, 'lost', NO_ARGUMENTS));
    given.dashboards.set(old);
    expect(shown()).toEqual(['newer', 'lost']);
    expect(isTold()).toEqual([false, false]);
  });
});

describe('a newer cluster of the notebook of a cell’s plot', () => {
  const cluster = (id: string, firstSeen: number): IKnownDashboard =>
    known({ id, kernel_id: 'k', scheduler: { id, address: '' }, firstSeen });
  const [old, newer, newest] = [
    cluster('old', 1000),
    cluster('newer', 2000),
    cluster('newest', 3000)
  ] as const;

  let given: ITestServices;
  let cells: OutputPlot[];
  let newClusters: NewClusters;

  const draw = async (plot: string, dashboard: string): Promise<void> => {
    const cell = new OutputPlot(given, null, view => newClusters.watch(view));
    cells.push(cell);
    Widget.attach(cell, document.body);
    await cell.renderModel(new MimeModel({ data: { [MimeTypes.plot]: { dashboard, plot } } }));
    await settled();
  };
  const hint = (cell: OutputPlot): HTMLElement => cell.node.querySelector('.jp-DaskDiag-newer')!;
  const isTold = (): boolean[] => cells.map(cell => !hint(cell).hidden);
  const shown = (): (string | null)[] =>
    cells.map(cell => cell.node.querySelector('.jp-DaskDiag-canvas')!.textContent);
  const press = async (cell: OutputPlot, button: string): Promise<void> => {
    hint(cell).querySelector<HTMLElement>(button)?.click();
    await settled();
  };

  beforeEach(() => {
    given = services();
    cells = [];
    newClusters = new NewClusters(given, 'In all cells');
  });

  afterEach(() => {
    cells.forEach(cell => cell.dispose());
    given.look.dispose();
  });

  it('is told, and shown in all cells of the older one by one press', async () => {
    given.dashboards.set(old);
    await draw('progress', 'old');
    await draw('task-stream', 'old');
    expect(isTold()).toEqual([false, false]);
    given.dashboards.set(old, newer);
    expect(isTold()).toEqual([true, true]);
    expect(hint(cells[0]!).querySelector('button')?.title).toBe('In all cells');
    await press(cells[0]!, '.jp-DaskDiag-showNewer');
    expect(shown()).toEqual(['picture of newer', 'picture of newer']);
    expect(isTold()).toEqual([false, false]);
  });

  it('is told also by a cell that is drawn when both are there, as after a reload', async () => {
    given.dashboards.set(old, newer);
    await draw('progress', 'old');
    expect([isTold(), shown()]).toEqual([[true], ['picture of old']]);
    await press(cells[0]!, '.jp-DaskDiag-toolbarButton');
    expect(isTold()).toEqual([false]);
    given.dashboards.set(old, newer, newest);
    expect(isTold()).toEqual([true]);
  });

  it('is not told where another cell shows it', async () => {
    given.dashboards.set(old, newer);
    await draw('progress', 'newer');
    await draw('progress', 'old');
    expect(isTold()).toEqual([false, false]);
  });
});
