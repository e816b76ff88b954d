/** How much room a layout has: that of the notebook, or of the main area. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { INotebookTracker } from '@jupyterlab/notebook';
import { CommandRegistry } from '@lumino/commands';
import { DockPanel, Widget } from '@lumino/widgets';

import { Preferences } from '../model/preferences';
import type { IOpenOptions, IPanes } from '../plugins/ipanes';
import { layoutsPlugin } from '../plugins/layouts';
import { BOARD_ID, CommandIDs } from '../tokens';
import type { Pane } from '../widgets/pane';
import { known } from './dashboards';
import { services } from './plots';

// All of Lab's notebook would be loaded for a name that is not used without a notebook.
jest.mock('@jupyterlab/notebook', () => ({ INotebookTracker: {} }));

describe('the usual four', () => {
  let shell: Widget;
  let modes: (string | undefined)[];
  let references: (string | undefined)[];
  let all: Pane[];
  let revealed: number[];

  const sized = (node: HTMLElement, width: number, height: number): HTMLElement => {
    node.getBoundingClientRect = () => ({ width, height }) as DOMRect; // as is read
    return node;
  };
  const area = (id: string, width: number, height: number): void => {
    const node = sized(document.createElement('div'), width, height);
    node.id = id;
    shell.node.append(node);
  };
  const open = async (currentWidget: Widget | null = null): Promise<(string | undefined)[]> => {
    [modes, references, revealed] = [[], [], []];
    const commands = new CommandRegistry();
    const app = { commands, shell: Object.assign(shell, { activateById: () => undefined }) };
    const panes: Partial<IPanes> = {
      open: (_plot, _dashboard, options?: IOpenOptions) => {
        modes.push(options?.mode);
        references.push(options?.ref);
        return new Widget() as Pane; // nobody looks into the pane
      },
      find: plot => all.find(one => one.view.plot === plot),
      seen: all.filter(one => one.isVisible),
      reveal: () => void revealed.push(modes.length)
    };
    const find = (): undefined => undefined; // no other notebook is in sight
    const notebooks = { currentWidget, find } as unknown as INotebookTracker; // what is touched of it
    const given = services();
    given.dashboards.set(known({ id: 'a', kernel_id: 'k' }));
    const preferences = new Preferences();
    void layoutsPlugin.activate(
      app as unknown as JupyterFrontEnd, // what is touched of it
      panes,
      given,
      preferences,
      notebooks
    );
    await commands.execute(CommandIDs.openLayout);
    given.look.dispose();
    return modes;
  };
  const notebook = (): Widget =>
    Object.assign(new Widget(), { sessionContext: { session: { kernel: { id: 'k' } } } });
  const paneOf = (plot: string): Widget => {
    const pane = Object.assign(new Widget(), { view: { plot } });
    pane.id = `pane-of-${plot}`;
    all.push(pane as unknown as Pane); // what is touched of it
    return pane;
  };
  const SPLIT = ['split-right', 'split-bottom', 'split-right', 'split-right'];
  const TABS = ['split-right', 'tab-after', 'tab-after', 'tab-after'];

  beforeEach(() => {
    shell = new Widget();
    all = [];
    sized(shell.node, 2000, 1200); // with side areas and all
    Widget.attach(shell, document.body);
  });

  afterEach(() => shell.dispose());

  it('are laid out in the main area, not in the window', async () => {
    area('jp-main-dock-panel', 300, 200);
    expect(await open()).toEqual(TABS);
  });

  it('are laid out in the main area where the notebook is behind another tab', async () => {
    area('jp-main-dock-panel', 300, 200);
    expect(await open(notebook())).toEqual(TABS);
  });

  it('are laid out in the room of the notebook that is seen', async () => {
    area('jp-main-dock-panel', 2000, 1200);
    expect(await open()).toEqual(SPLIT);
    const front = notebook();
    sized(front.node, 300, 200);
    Widget.attach(front, shell.node);
    expect(await open(front)).toEqual(TABS);
    front.dispose();
  });

  it('leave a notebook its width where a pane is open beside it, and are in front of that', async () => {
    area('jp-main-dock-panel', 1070, 820);
    const front = notebook();
    sized(front.node, 530, 820);
    Widget.attach(front, shell.node);
    const pane = paneOf('cpu');
    sized(pane.node, 530, 820);
    Widget.attach(pane, shell.node);
    expect(await open(front)).toEqual(['tab-after', 'split-bottom', 'split-right', 'split-right']);
    expect([references[0], revealed]).toEqual(['pane-of-cpu', [4, 4, 4, 4]]);
    front.dispose();
    pane.dispose();
  });

  it('go on from a pane that is behind another tab, in the room of its place', async () => {
    area('jp-main-dock-panel', 2000, 1200);
    const front = notebook();
    sized(front.node, 1700, 1200);
    const stream = paneOf('task-stream');
    const cover = new Widget();
    [front.id, cover.id] = ['notebook', 'cover'];
    const dock = new DockPanel();
    dock.addWidget(front);
    dock.addWidget(stream, { mode: 'split-right', ref: front });
    dock.addWidget(cover, { mode: 'tab-after', ref: stream });
    sized(cover.node, 300, 300);
    Widget.attach(dock, shell.node);
    dock.selectWidget(cover);
    expect((await open(front)).slice(1)).toEqual(TABS.slice(1));
    expect(references[1]).toBe(stream.id);
    dock.dispose();
  });

  it('lie one below the other on the board where there is no such area, as high as it is', async () => {
    const freely = ['tab-after', 'split-bottom', 'split-bottom', 'split-bottom'];
    expect(await open()).toEqual(freely); // nobody knows how high the board will be
    const front = notebook();
    sized(front.node, 1000, 500);
    Widget.attach(front, shell.node);
    expect(await open(front)).toEqual(['tab-after', 'split-bottom', 'tab-after', 'tab-after']);
    front.dispose();
    area(BOARD_ID, 320, 300);
    expect(await open()).toEqual(['split-bottom', 'tab-after', 'tab-after', 'tab-after']);
  });

  it('lie one below the other on a board of any width', async () => {
    area(BOARD_ID, 250, 2000);
    expect(await open()).toEqual(Array(4).fill('split-bottom'));
  });
});
