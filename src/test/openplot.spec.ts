/** Opening a plot by its name while the notebook's own cluster is still to come. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { INotebookTracker } from '@jupyterlab/notebook';
import { CommandRegistry } from '@lumino/commands';
import { Widget } from '@lumino/widgets';

import { addOpenCommand } from '../plugins/openplot';
import { PaneList } from '../plugins/panelist';
import { CommandIDs } from '../tokens';
import type { Pane } from '../widgets/pane';
import { known } from './dashboards';
import { services, type ITestServices } from './plots';

describe('opening a plot of the notebook in front', () => {
  const own = known({ id: 'own', kernel_id: 'k' });
  const other = known({ id: 'other', kernel_id: 'k2' });
  let given: ITestServices;
  let pane: Pane | null;

  function open(): Promise<Pane | null> {
    const commands = new CommandRegistry();
    const shell = {
      add: (widget: Widget) => Widget.attach(widget, document.body),
      activateById: () => undefined
    };
    const currentWidget = {
      isVisible: true,
      sessionContext: { session: { kernel: { id: 'k' } } },
      context: { path: 'own.ipynb' }
    };
    const app = { commands, shell } as unknown as JupyterFrontEnd; // what is touched of it
    const notebooks = { currentWidget } as unknown as INotebookTracker; // what is touched of it
    const panes = new PaneList(app, given, null, notebooks);
    addOpenCommand(app, given, panes, notebooks);
    return commands.execute(CommandIDs.openPlot, { plot: 'progress' });
  }

  beforeEach(() => {
    jest.useFakeTimers();
    given = services();
  });

  afterEach(() => {
    pane?.dispose();
    jest.useRealTimers();
  });

  it('waits in a pane where only another notebook’s cluster is listed, which has ended', async () => {
    given.dashboards.set({ ...other, state: 'stale' });
    pane = await open();
    expect(pane?.node.textContent).toContain('Waiting for a cluster of own.ipynb');
    given.dashboards.set({ ...other, state: 'stale' }, own);
    expect(pane?.node.dataset['dashboard']).toBe('own');
  });

  it('waits a moment for its own where another one runs', async () => {
    given.dashboards.set(other);
    const opening = open();
    await jest.advanceTimersByTimeAsync(500);
    given.dashboards.set(other, own);
    pane = await opening;
    expect(pane?.node.dataset['dashboard']).toBe('own');
  });

  it('takes the only one that runs when its own does not come', async () => {
    given.dashboards.set(other);
    const opening = open();
    await jest.advanceTimersByTimeAsync(2000);
    pane = await opening;
    expect(pane?.node.dataset['dashboard']).toBe('other');
  });
});
