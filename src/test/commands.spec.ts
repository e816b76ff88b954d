/** The plugins, activated in an application that lacks everything that is optional. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { CommandRegistry } from '@lumino/commands';
import { Widget } from '@lumino/widgets';

import { Preferences } from '../model/preferences';
import { cellsPlugin } from '../plugins/cells';
import { layoutsPlugin } from '../plugins/layouts';
import { linksPlugin } from '../plugins/links';
import { paneKeysPlugin } from '../plugins/panekeys';
import { panesPlugin } from '../plugins/panes';
import { reprButtonPlugin } from '../plugins/reprbutton';
import { sidebarPlugin } from '../plugins/sidebar';
import { BOARD_ID, CommandIDs } from '../tokens';
import type { Pane } from '../widgets/pane';
import plugins from '../index';
import { known } from './dashboards';
import { services, settled, type ITestServices } from './plots';

// All of Lab's notebook would be loaded for two names that are not used without a notebook.
jest.mock('@jupyterlab/notebook', () => ({ INotebookTracker: {}, NotebookActions: {} }));

interface ITestApp {
  readonly commands: CommandRegistry;
  readonly added: string[];
  readonly activated: string[];
  restore(): void;
}

function app(): ITestApp & JupyterFrontEnd {
  const commands = new CommandRegistry();
  const added: string[] = [];
  const activated: string[] = [];
  let restore = (): void => undefined;
  const restored = new Promise<void>(resolve => (restore = resolve));
  const shell = {
    node: document.body,
    add: (widget: Widget, area: string) => {
      added.push(`${widget.id} ${area}`);
      Widget.attach(widget, document.body);
    },
    activateById: (id: string) => void activated.push(id)
  };
  const serverSettings = { baseUrl: '/', wsUrl: '/', appendToken: false, token: '' };
  const made = {
    commands,
    added,
    activated,
    shell,
    restored,
    restore,
    serviceManager: { serverSettings }
  };
  return made as never; // what the plugins touch of an application without Lab's shell
}

function activate<T>(plugin: JupyterFrontEndPlugin<T>, ...given: unknown[]): T {
  return plugin.activate(...(given as [JupyterFrontEnd])) as T; // none of ours is asynchronous
}

describe('the plugins', () => {
  let lab: ITestApp & JupyterFrontEnd;
  let given: ITestServices;
  let preferences: Preferences;

  beforeEach(() => {
    lab = app();
    given = services();
    preferences = new Preferences();
    const panes = activate(panesPlugin, lab, given, null, null, null);
    activate(paneKeysPlugin, lab, panes, given);
    activate(layoutsPlugin, lab, panes, given, preferences, null);
    activate(sidebarPlugin, lab, panes, given, preferences, null, null, null);
    activate(cellsPlugin, lab, given, null);
    activate(linksPlugin, lab, given, panes, null);
    activate(reprButtonPlugin, lab, given);
  });

  it('have ids of this extension and a description each', () => {
    expect(plugins.every(plugin => plugin.id.startsWith('dask-diag-lab:'))).toBe(true);
    expect(plugins.every(plugin => plugin.description)).toBe(true);
    expect(new Set(plugins.map(plugin => plugin.id)).size).toBe(plugins.length);
  });

  it('give each command a label and a description of its arguments', async () => {
    lab.restore();
    await settled();
    for (const id of Object.values(CommandIDs)) {
      expect([id, lab.commands.label(id)]).not.toEqual([id, '']);
      expect((await lab.commands.describedBy(id)).args).toMatchObject({ type: 'object' });
    }
  });

  it('run each command without arguments and without a cluster, and nothing breaks', async () => {
    jest.useFakeTimers();
    const asking: string[] = [CommandIDs.addDashboard]; // opens a dialog and waits
    for (const id of Object.values(CommandIDs).filter(one => !asking.includes(one))) {
      if (lab.commands.hasCommand(id)) {
        const done = lab.commands.execute(id);
        await jest.advanceTimersByTimeAsync(10_000);
        await done; // a rejection fails the test
      }
    }
    jest.useRealTimers();
  });

  it('open a plot of the only cluster', async () => {
    given.dashboards.set(known({ id: 'a' }));
    const pane = await lab.commands.execute(CommandIDs.openPlot, { plot: 'progress' });
    expect(pane.node.dataset).toMatchObject({ plot: 'progress', dashboard: 'a' });
    expect(await lab.commands.execute(CommandIDs.openPlot, { plot: 'progress' })).toBe(pane);
    pane.dispose();
  });

  it('open a plot of the cluster that is named, when another one is listed first', async () => {
    jest.useFakeTimers();
    given.dashboards.set(known({ id: 'a' }));
    const named = { plot: 'progress', dashboard: 'b' };
    const asked = lab.commands.execute(CommandIDs.openPlot, named);
    await jest.advanceTimersByTimeAsync(1000);
    given.dashboards.set(known({ id: 'a' }), known({ id: 'b' }));
    const pane = await asked;
    expect(pane.node.dataset['dashboard']).toBe('b');
    pane.dispose();
    jest.useRealTimers();
  });

  it('prepare a pressed plot that is not open, while its cluster lives', () => {
    const button = (): HTMLElement | undefined => {
      const rows = '.jp-DaskDiag-plotItem[data-plot="progress"] button.jp-DaskDiag-plotButton';
      return [...document.querySelectorAll<HTMLElement>(rows)].pop(); // older sidebars stay
    };
    const press = (): void =>
      void button()?.dispatchEvent(new PointerEvent('pointerdown', { button: 0 }));
    given.dashboards.set(known({ id: 'a', state: 'unreachable' }));
    press();
    expect(given.connector.prepared).toEqual([]);
    given.dashboards.set(known({ id: 'a' }));
    press();
    expect(given.connector.prepared).toEqual(['progress of a']);
    button()?.click();
    press();
    expect(given.connector.prepared).toHaveLength(1);
  });

  it('bring the usual plots forward where they are behind others', async () => {
    given.dashboards.set(known({ id: 'a' }));
    const four = { dashboard: 'a' };
    const stream = await lab.commands.execute(CommandIDs.openPlot, {
      plot: 'task-stream',
      ...four
    });
    const cpu = await lab.commands.execute(CommandIDs.openPlot, { plot: 'cpu', ...four });
    expect([stream.isHidden, cpu.isHidden]).toEqual([true, false]); // tabs of one place
    const { parent: board } = stream;
    expect(lab.activated).not.toContain(BOARD_ID); // Notebook 7.4 would collapse its area
    board?.hide();
    await lab.commands.execute(CommandIDs.openLayout, four);
    expect([stream.isHidden, cpu.isHidden]).toEqual([false, true]);
    expect(lab.activated).toContain(BOARD_ID); // its area was collapsed
    document.querySelectorAll('.jp-DaskDiag-pane').forEach(node => node.remove());
  });

  it('open another plot in a browser tab where there is no dock beside', async () => {
    const opened = jest.spyOn(window, 'open').mockReturnValue(null);
    given.dashboards.set(known({ id: 'a' }));
    const pane = await lab.commands.execute(CommandIDs.openPlot, { plot: 'task-stream' });
    await settled();
    const ask = (plot: string): void =>
      given.connector.last.opened.emit({ plot, arguments: { prefix: 'inc' }, n: 1 });
    ask('no-such-plot');
    expect(opened).not.toHaveBeenCalled();
    ask('progress');
    expect(opened.mock.calls[0]?.[0]).toBe('/relay/a/plots/progress?prefix=inc');
    opened.mockRestore();
    pane.dispose();
  });

  it('open a plot with arguments, show others in the pane that is there, and the whole in another', async () => {
    given.dashboards.set(known({ id: 'a' }));
    const ask = (prefix?: string): Promise<Pane> =>
      lab.commands.execute(CommandIDs.openPlot, {
        plot: 'progress',
        ...(prefix === undefined ? {} : { arguments: { prefix } })
      });
    const pane = await ask('inc');
    expect(pane.title.label).toBe('Progress: inc');
    expect([await ask('dec'), pane.title.label]).toEqual([pane, 'Progress: dec']);
    const whole = await ask();
    expect([whole.title.label, pane.title.label]).toEqual(['Progress', 'Progress: dec']);
    expect(await ask()).toBe(whole);
    whole.dispose();
    pane.dispose();
  });

  it('bring a pane back with what it showed', async () => {
    const args = {
      plot: 'progress',
      key: 'progress-1',
      binding: { dashboard: 'gone' },
      arguments: { prefix: 'inc', bad: 3 }
    };
    const pane = await lab.commands.execute(CommandIDs.openPlot, args);
    expect(pane.state.arguments).toEqual({ prefix: 'inc' });
    pane.dispose();
  });

  it('open a page of the only cluster in a browser tab', async () => {
    const opened = jest.spyOn(window, 'open').mockReturnValue(null);
    given.dashboards.set(known({ id: 'a' }));
    await lab.commands.execute(CommandIDs.openPage, { page: 'workers' });
    expect(opened.mock.calls[0]?.[0]).toMatch(/dashboards\/a\/workers$/);
    opened.mockRestore();
  });

  it('make a favourite of the current pane’s plot, or ask for one', async () => {
    given.dashboards.set(known({ id: 'a' }));
    const asked = lab.commands.execute(CommandIDs.toggleFavorite);
    await settled();
    const dialog = document.querySelector('.jp-Dialog');
    expect(dialog?.querySelectorAll('option')).toHaveLength(known().plots.length);
    dialog?.querySelector<HTMLElement>('.jp-mod-accept')?.click();
    await asked;
    expect(preferences.favorites.has('task-stream')).toBe(true);
    const pane = await lab.commands.execute(CommandIDs.openPlot, { plot: 'progress' });
    pane.node.dispatchEvent(new FocusEvent('focus'));
    await lab.commands.execute(CommandIDs.toggleFavorite);
    expect(preferences.favorites.has('progress')).toBe(true);
    pane.dispose();
  });

  it('bring a pane back while its dashboard is not there yet', async () => {
    const binding = {
      dashboard: 'gone',
      kernel: 'k',
      notebook: null,
      scheduler: '',
      name: 'x.ipynb'
    };
    const args = { plot: 'graph', key: 'graph-1', binding };
    const pane = await lab.commands.execute(CommandIDs.openPlot, args);
    expect(pane.id).toBe('dask-diag-lab-pane-graph-1');
    expect(pane.node.textContent).toContain('x.ipynb has no cluster at the moment.');
    pane.dispose();
  });

  it('open the layout at the first press of the button in the repr, when the list is late', async () => {
    lab.restore();
    await settled();
    given.dashboards.isKnown = false;
    const pressed = lab.commands.execute(CommandIDs.reprButton, { url: 'http://127.0.0.1:8787' });
    await settled();
    expect(document.querySelector('.jp-DaskDiag-pane')).toBeNull();
    given.dashboards.isKnown = true;
    given.dashboards.set(known({ id: 'a' }));
    await pressed;
    const plots = [...document.querySelectorAll<HTMLElement>('.jp-DaskDiag-pane')];
    expect(new Set(plots.map(pane => pane.dataset['plot']))).toEqual(
      new Set(['task-stream', 'progress', 'workers-memory', 'graph'])
    );
  });

  it('leave the repr’s command to whoever has registered it before', async () => {
    const other = app();
    other.commands.addCommand(CommandIDs.reprButton, { label: 'theirs', execute: () => 'theirs' });
    activate(reprButtonPlugin, other, given);
    other.restore();
    await settled();
    expect(await other.commands.execute(CommandIDs.reprButton)).toBe('theirs');
  });
});
