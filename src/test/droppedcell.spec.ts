/** What becomes of the cell that a dropped plot makes. */

import { Notification } from '@jupyterlab/apputils';
import { NotebookActions, type INotebookTracker } from '@jupyterlab/notebook';

import { codeCell, plotCode, type ICodeCell } from '../model/snippets';
import { showDropped } from '../plugins/droppedcell';
import { DashboardList, known, trans } from './dashboards';

// All of Lab's notebook would be loaded for one action.
jest.mock('@jupyterlab/notebook', () => ({
  INotebookTracker: {},
  NotebookActions: { run: jest.fn(() => Promise.resolve(true)) }
}));

describe('the cell of a dropped plot', () => {
  const plot = (): ICodeCell => codeCell(plotCode('progress'));
  const run = jest.mocked(NotebookActions.run);
  const own = known({ id: 'own', kernel_id: 'k' });
  let told: string[];
  let dashboards: DashboardList;

  /** Drop below two cells, of which Lab makes the last the active one; return the active one then. */
  const drop = async (status: string, dropped = plot(), above = 'b = 2'): Promise<number> => {
    const cells = ['a = 1', above].map(codeCell);
    const content = {
      widgets: [...cells, dropped, codeCell('c = 3')].map(({ id }) => ({ model: { id } })),
      activeCellIndex: 1,
      deselectAll: () => undefined
    };
    const sessionContext = { session: { kernel: { id: 'k', status } } };
    const tracker = { currentWidget: { content, sessionContext, isVisible: true } };
    const notebooks = tracker as unknown as INotebookTracker; // as much as is used
    await showDropped(notebooks, { dashboards, trans }, 'own', dropped.id);
    return content.activeCellIndex;
  };

  beforeEach(() => {
    told = [];
    run.mockClear();
    jest.spyOn(Notification, 'info').mockImplementation(words => String(told.push(words)));
    dashboards = new DashboardList();
    dashboards.set(own);
  });

  afterEach(() => jest.restoreAllMocks());

  it('is selected and runs', async () => {
    expect(await drop('idle')).toBe(2);
    expect([run.mock.calls.length, told]).toEqual([1, []]);
  });

  it('runs, and not one with the same plot above it', async () => {
    expect(await drop('idle', plot(), plotCode('progress'))).toBe(2);
    expect(run).toHaveBeenCalledTimes(1);
  });

  it('waits for the user while the kernel is busy', async () => {
    expect(await drop('busy')).toBe(2);
    expect(run).not.toHaveBeenCalled();
    expect(told.join()).toContain('The kernel is busy');
  });

  it('does not run where the notebook has no cluster to show', async () => {
    dashboards.set({ ...own, kernel_id: 'another' });
    expect(await drop('idle')).toBe(2);
    expect(run).not.toHaveBeenCalled();
    expect(told.join()).toContain('no cluster');
  });

  it('does not run where it would show another cluster than the one it was dragged from', async () => {
    const other = known({ id: 'other', kernel_id: 'k' });
    dashboards.set({ ...own, kernel_id: 'another', shownName: 'far.ipynb' }, other);
    expect(await drop('idle')).toBe(2);
    dashboards.set(own, other);
    await drop('idle');
    expect(run).not.toHaveBeenCalled();
    expect(told[0]).toContain('is of the cluster of far.ipynb');
    expect(told[1]).toContain('several clusters');
    dashboards.set(own, { ...other, state: 'stale' });
    await drop('idle');
    expect(run).toHaveBeenCalledTimes(1);
  });

  it('is none of a drop elsewhere', async () => {
    const elsewhere = plot();
    const content = { widgets: [{ model: { id: plot().id } }], activeCellIndex: 0 };
    const tracker = { currentWidget: { content, sessionContext: {}, isVisible: true } };
    const notebooks = tracker as unknown as INotebookTracker; // as much as is used
    await showDropped(notebooks, { dashboards, trans }, 'own', elsewhere.id);
    expect([run.mock.calls.length, told]).toEqual([0, []]);
  });
});
