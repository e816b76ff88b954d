/** What the status bar says of one cluster and of several, and of what failed in them. */

import { CommandRegistry } from '@lumino/commands';
import type { Widget } from '@lumino/widgets';

import type { IKnownDashboard } from '../model/dashboards';
import { Preferences } from '../model/preferences';
import { statusItemPlugin } from '../plugins/statusitem';
import { CommandIDs } from '../tokens';
import { StatusItem } from '../widgets/statusitem';
import { DashboardList, known, trans } from './dashboards';
import { services, settled, type ITestServices } from './plots';

// All of Lab's notebook would be loaded for a name that is not used without a notebook.
jest.mock('@jupyterlab/notebook', () => ({ INotebookTracker: {} }));

const QUIET = [() => undefined, () => undefined] as const;

describe('the status bar', () => {
  const { summary } = known();
  const cluster = (id: string, workers: number, processing: number, erred = 0): IKnownDashboard => {
    const tasks = { ...summary!.tasks, processing, erred };
    return known({ id, shownName: `${id}.ipynb`, summary: { ...summary!, workers, tasks } });
  };

  it('adds up all clusters, and says so with a line for each', () => {
    const dashboards = new DashboardList();
    const item = new StatusItem({ dashboards, trans }, ...QUIET);
    const said = (): string => item.node.querySelector('button')?.textContent ?? '';
    const title = (): string => item.node.querySelector('button')?.title ?? '';
    expect(item.node.hidden).toBe(true);
    dashboards.set(cluster('a', 4, 7));
    expect(said()).toBe('4 workers · 7 processing');
    expect(title()).toBe('1 Dask cluster\na.ipynb: 4 workers · 7 processing');
    dashboards.set(cluster('a', 4, 7), cluster('b', 1, 2), known({ id: 'old', state: 'stale' }));
    expect(said()).toBe('2 clusters: 5 workers · 9 processing');
    expect(title().split('\n')).toEqual([
      '2 Dask clusters together',
      'a.ipynb: 4 workers · 7 processing',
      'b.ipynb: 1 worker · 2 processing'
    ]);
    item.dispose();
  });

  it('counts what failed, in words, and shows it', () => {
    const dashboards = new DashboardList();
    const asked: string[][] = [];
    const item = new StatusItem(
      { dashboards, trans },
      () => undefined,
      those => void asked.push(those.map(({ id }) => id))
    );
    const erred = item.node.querySelectorAll('button')[1]!;
    dashboards.set(cluster('a', 4, 7));
    expect(erred.hidden).toBe(true);
    dashboards.set(cluster('a', 4, 7), cluster('b', 1, 2, 3), cluster('c', 1, 2, 1200));
    expect([erred.hidden, erred.textContent]).toEqual([false, '1\u202f203 erred']);
    expect(erred.querySelector('svg')).not.toBeNull();
    expect(erred.title.split('\n').slice(1)).toEqual([
      'b.ipynb: 3 erred',
      'c.ipynb: 1\u202f200 erred'
    ]);
    erred.click();
    expect(asked).toEqual([['b', 'c']]);
    dashboards.set({ ...cluster('b', 1, 2, 3), state: 'stale' });
    expect(erred.hidden).toBe(true);
    item.dispose();
  });
});

describe('the count of failures in the status bar', () => {
  let given: ITestServices;
  let opened: object[];
  let item: Widget;
  let kernel: string;

  const { summary } = known();
  const cluster = (id: string, erred: number): IKnownDashboard => {
    const tasks = { ...summary!.tasks, erred };
    return known({ id, kernel_id: id, shownName: id, summary: { ...summary!, tasks } });
  };
  /** Press it while the notebook with this kernel is in front. */
  const press = async (front: string): Promise<void> => {
    kernel = front;
    item.node.querySelectorAll('button')[1]!.click();
    await settled();
  };
  const dialog = (): HTMLElement | null => document.querySelector('.jp-Dialog');

  beforeEach(() => {
    const commands = new CommandRegistry();
    opened = [];
    commands.addCommand(CommandIDs.openPlot, { execute: args => void opened.push(args) });
    given = services();
    const bar = {
      registerStatusItem: (_: string, registered: { item: Widget }) => void (item = registered.item)
    };
    const notebooks = {
      get currentWidget(): object {
        return { isVisible: true, sessionContext: { session: { kernel: { id: kernel } } } };
      }
    };
    const app = { commands } as never; // what is touched of it
    void statusItemPlugin.activate(app, given, new Preferences(), bar, notebooks);
  });

  afterEach(() => {
    item.dispose();
    given.look.dispose();
  });

  it('opens the exceptions of the only cluster that has some, whatever is in front', async () => {
    given.dashboards.set(cluster('a', 0), cluster('b', 3));
    await press('a');
    expect(opened).toEqual([{ plot: 'exceptions', dashboard: 'b' }]);
  });

  it('opens those of the notebook in front where several have some', async () => {
    given.dashboards.set(cluster('a', 1), cluster('b', 3), cluster('c', 0));
    await press('a');
    expect(opened).toEqual([{ plot: 'exceptions', dashboard: 'a' }]);
  });

  it('asks among those that have some where that in front has none', async () => {
    given.dashboards.set(cluster('a', 1), cluster('b', 3), cluster('c', 0));
    await press('c');
    const select = dialog()!.querySelector('select')!;
    expect([...select.options].map(({ value }) => value)).toEqual(['a', 'b']);
    select.value = 'b';
    dialog()!.querySelector<HTMLElement>('.jp-mod-accept')!.click();
    await settled();
    expect(opened).toEqual([{ plot: 'exceptions', dashboard: 'b' }]);
  });
});
