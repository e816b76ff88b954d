/** All panes of a layout are in sight, whatever was open before. */

import type { ILabShell, JupyterFrontEnd } from '@jupyterlab/application';
import type { INotebookTracker } from '@jupyterlab/notebook';
import { CommandRegistry } from '@lumino/commands';
import { DockPanel, Widget, type DockLayout } from '@lumino/widgets';

import { USUAL_FOUR } from '../model/layout';
import { Preferences } from '../model/preferences';
import { layoutsPlugin } from '../plugins/layouts';
import { PaneList } from '../plugins/panelist';
import { CommandIDs } from '../tokens';
import { known } from './dashboards';
import { services, type ITestServices } from './plots';

// All of Lab's notebook would be loaded for a name that is not used without a notebook.
jest.mock('@jupyterlab/notebook', () => ({ INotebookTracker: {} }));

describe('the usual four among open panes', () => {
  const plots = USUAL_FOUR.map(({ plot }) => plot);
  let given: ITestServices;
  let commands: CommandRegistry;
  let dock: DockPanel;
  let notebook: Widget;
  let panes: PaneList;

  beforeEach(() => {
    const room = { left: 0, top: 0, width: 1600, height: 1200 } as DOMRect; // as is read
    jest.spyOn(Element.prototype, 'getBoundingClientRect').mockReturnValue(room);
    given = services();
    given.dashboards.set(known({ id: 'a', kernel_id: 'k' }), known({ id: 'b', kernel_id: 'k2' }));
    const main = new Widget();
    dock = new DockPanel();
    dock.id = 'jp-main-dock-panel';
    Widget.attach(main, document.body);
    Widget.attach(dock, main.node);
    notebook = Object.assign(new Widget(), {
      id: 'notebook',
      sessionContext: { session: { kernel: { id: 'k' } } }
    });
    dock.addWidget(notebook);
    const find = (id: string | null | undefined): Widget | null =>
      [...dock.widgets()].find(one => one.id === id) ?? null;
    const shell = {
      mode: 'multiple-document',
      node: main.node,
      add: (widget: Widget, _area: string, { mode, ref }: DockLayout.IAddOptions) =>
        dock.addWidget(widget, { mode, ref: find(ref as unknown as string) }), // Lab takes an id
      activateById: (id: string) => dock.selectWidget(find(id)!)
    };
    commands = new CommandRegistry();
    const app = { commands, shell } as unknown as JupyterFrontEnd; // what is touched of it
    const notebooks = { currentWidget: notebook, find: () => notebook };
    const tracker = notebooks as unknown as INotebookTracker; // as above
    panes = new PaneList(app, given, shell as unknown as ILabShell, tracker);
    void layoutsPlugin.activate(app, panes, given, new Preferences(), tracker);
  });

  afterEach(() => {
    dock.dispose();
    given.look.dispose();
    jest.restoreAllMocks();
  });

  const opened = (dashboard = 'a', ref = notebook.id): string[] => {
    const behind = { mode: 'tab-after', ref, isActivated: false } as const;
    return plots.map(plot => panes.open(plot, dashboard, behind).id);
  };
  const shown = async (): Promise<readonly string[]> => {
    await commands.execute(CommandIDs.openLayout, { dashboard: 'a' });
    return plots.filter(plot => panes.find(plot, 'a')?.isVisible === true);
  };

  it('are in sight where all were tabs of one place', async () => {
    const first = panes.open('task-stream', 'a', { mode: 'split-right', ref: notebook.id });
    const before = opened('a', first.id);
    expect(await shown()).toEqual(plots);
    expect(plots.map(plot => panes.find(plot, 'a')?.id)).toEqual(before);
    expect([...dock.tabBars()]).toHaveLength(5);
  });

  it('are in sight where all were tabs of the notebook, and so is that', async () => {
    opened();
    expect(await shown()).toEqual(plots);
    expect(notebook.isVisible).toBe(true);
  });

  it('are in sight where panes of another cluster lay before them', async () => {
    expect(await shown()).toEqual(plots);
    const bars = [...dock.tabBars()];
    const covers = plots.map(plot => {
      const { id } = panes.find(plot, 'a')!;
      return panes.open(plot, 'b', { mode: 'tab-after', ref: id });
    });
    expect(covers.every(cover => cover.isVisible)).toBe(true);
    expect(await shown()).toEqual(plots);
    expect([...dock.tabBars()]).toEqual(bars);
  });

  it('stay where they are when all are in sight', async () => {
    await shown();
    const places = (): unknown =>
      JSON.stringify(dock.saveLayout(), (key, value: unknown) =>
        key === 'widgets' ? (value as Widget[]).map(({ id }) => id) : value
      );
    const before = places();
    expect(await shown()).toEqual(plots);
    expect(places()).toBe(before);
  });
});
