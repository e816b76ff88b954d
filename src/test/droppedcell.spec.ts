/** What becomes of the cell that a dropped plot makes. */

import { Notification } from '@jupyterlab/apputils';
import { NotebookActions, type INotebookTracker } from '@jupyterlab/notebook';

import { showDropped } from '../plugins/droppedcell';
import { DashboardList, known, trans } from './dashboards';

// All of Lab's notebook would be loaded for one action.
jest.mock('@jupyterlab/notebook', () => ({
  INotebookTracker: {},
  NotebookActions: { run: jest.fn(() => Promise.resolve(true)) }
}));

describe('the cell of a dropped plot', () => {
  const CODE = 'dask_diag_lab.plot("progress")';
  const run = jest.mocked(NotebookActions.run);
  let told: string[];
  let dashboards: DashboardList;

  const cell = (source: string): object => ({
    model: { sharedModel: { getSource: () => source } }
  });
  const drop = async (status: string, code = CODE): Promise<number> => {
    const content = {
      widgets: ['a = 1', CODE, 'b = 2'].map(cell),
      activeCellIndex: 2,
      deselectAll: () => undefined
    };
    const sessionContext = { session: { kernel: { id: 'k', status } } };
    const tracker = { currentWidget: { content, sessionContext } };
    await showDropped(tracker as unknown as INotebookTracker, { dashboards, trans }, code); // as is used
    return content.activeCellIndex;
  };

  beforeEach(() => {
    told = [];
    run.mockClear();
    jest.spyOn(Notification, 'info').mockImplementation(words => String(told.push(words)));
    dashboards = new DashboardList();
    dashboards.set(known({ id: 'a', kernel_id: 'k' }));
  });

  afterEach(() => jest.restoreAllMocks());

  it('is selected and runs', async () => {
    expect(await drop('idle')).toBe(1);
    expect([run.mock.calls.length, told]).toEqual([1, []]);
  });

  it('waits for the user while the kernel is busy', async () => {
    expect(await drop('busy')).toBe(1);
    expect(run).not.toHaveBeenCalled();
    expect(told.join()).toContain('The kernel is busy');
  });

  it('does not run where the notebook has no cluster to show', async () => {
    dashboards.set(known({ id: 'a', kernel_id: 'another' }));
    expect(await drop('idle')).toBe(1);
    expect(run).not.toHaveBeenCalled();
    expect(told.join()).toContain('no cluster');
  });

  it('is none of a drop elsewhere', async () => {
    expect(await drop('idle', 'something else')).toBe(2);
    expect([run.mock.calls.length, told]).toEqual([0, []]);
  });
});
