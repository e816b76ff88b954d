/** The context menu of a plot, and a plot that is opened before its cluster is listed. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';
import { Widget, type DockPanel } from '@lumino/widgets';

import { Preferences } from '../model/preferences';
import type { IPanes } from '../plugins/ipanes';
import { panesPlugin } from '../plugins/panes';
import { plotMenuPlugin } from '../plugins/plotmenu';
import { sidebarPlugin } from '../plugins/sidebar';
import { CommandIDs, MenuCommandIDs, PLOT_ITEM_CLASS, TAB_CLASS } from '../tokens';
import type { Pane } from '../widgets/pane';
import { known } from './dashboards';
import { services, type ITestServices } from './plots';

// All of Lab's notebook would be loaded for two names that are not used without a notebook.
jest.mock('@jupyterlab/notebook', () => ({ INotebookTracker: {}, NotebookActions: {} }));

interface IMenuItem {
  readonly type?: string;
  readonly command?: string;
  readonly selector: string;
}

const path = join(__dirname, '../../schema/plugin.json');
const schema = JSON.parse(readFileSync(path, 'utf8')) as {
  'jupyter.lab.menus': { context: readonly IMenuItem[] };
};
const items = schema['jupyter.lab.menus'].context;

/** The commands that the menu of an element has, by the selectors of the schema. */
function offered(element: Element): (string | undefined)[] {
  return items
    .filter(item => item.type !== 'separator' && element.matches(item.selector))
    .map(item => item.command);
}

/** The notebook in front, whose client may have no dashboard yet. */
const NOTEBOOK = {
  id: 'notebook',
  isVisible: true,
  sessionContext: {
    isReady: true,
    ready: Promise.resolve(),
    session: { kernel: { id: 'k1' } },
    kernelChanged: new Signal<object, void>({})
  },
  context: { path: 'work/analysis.ipynb' }
};

describe('the context menu', () => {
  let commands: CommandRegistry;
  let given: ITestServices;
  let panes: IPanes;
  let preferences: Preferences;
  let under: HTMLElement | undefined;

  const app = (): JupyterFrontEnd => {
    const shell = {
      currentWidget: null,
      add: (widget: Widget) => void Widget.attach(widget, document.body),
      activateById: () => undefined
    };
    const contextMenuHitTest = (test: (node: HTMLElement) => boolean): HTMLElement | undefined => {
      for (let node = under ?? null; node !== null; node = node.parentElement) {
        if (test(node)) {
          return node;
        }
      }
      return undefined;
    };
    const restored = Promise.resolve();
    return { commands, shell, restored, contextMenuHitTest } as never; // what these plugins touch
  };

  const activate = <T>(plugin: JupyterFrontEndPlugin<T>, ...more: unknown[]): T =>
    plugin.activate(lab, ...(more as [])) as T; // none of ours is asynchronous

  let lab: JupyterFrontEnd;

  beforeEach(() => {
    commands = new CommandRegistry();
    given = services();
    preferences = new Preferences();
    lab = app();
    const notebooks = { currentWidget: NOTEBOOK, currentChanged: new Signal<object, void>({}) };
    panes = activate(panesPlugin, given, null, null, notebooks);
    activate(plotMenuPlugin, panes, given, preferences);
    activate(sidebarPlugin, panes, given, preferences, null, notebooks, null);
    given.dashboards.set(known({ id: 'a' }));
  });

  afterEach(() => {
    document.body.replaceChildren();
    under = undefined;
  });

  const row = (plot: string): HTMLElement =>
    document.querySelector<HTMLElement>(`.${PLOT_ITEM_CLASS}[data-plot="${plot}"]`)!;

  it('has commands that exist, each with a label', () => {
    for (const { command } of items.filter(item => item.type !== 'separator')) {
      expect(Object.values<string | undefined>(MenuCommandIDs)).toContain(command);
      expect([command, commands.label(command!)]).not.toEqual([command, '']);
    }
  });

  it('of a row opens its plot, and makes it a favourite', async () => {
    under = row('progress');
    expect(offered(under)).toContain(MenuCommandIDs.open);
    await commands.execute(MenuCommandIDs.open);
    expect(panes.find('progress', 'a')?.isAttached).toBe(true);
    expect(commands.label(MenuCommandIDs.toggleFavorite)).toBe('Add to favourites');
    await commands.execute(MenuCommandIDs.toggleFavorite);
    expect(preferences.favorites.has('progress')).toBe(true);
    under = row('progress');
    expect(commands.label(MenuCommandIDs.toggleFavorite)).toBe('Remove from favourites');
  });

  it('of a pane and of its tab is about that pane, with what it shows', async () => {
    const opened = jest.spyOn(window, 'open').mockReturnValue(null);
    const pane = panes.open('progress', 'a', { arguments: { prefix: 'inc' } });
    expect(offered(pane.view.node)).toContain(MenuCommandIDs.showTable);
    under = pane.view.node;
    await commands.execute(MenuCommandIDs.openInBrowser);
    under = document.createElement('li');
    under.className = `lm-TabBar-tab ${pane.title.className}`;
    under.dataset['id'] = pane.title.dataset['id'];
    expect(pane.title.className).toBe(TAB_CLASS);
    expect(offered(under)).toContain(MenuCommandIDs.showTable);
    await commands.execute(MenuCommandIDs.openInBrowser);
    const page = '/relay/a/plots/progress?prefix=inc';
    expect(opened.mock.calls.map(([url]) => url)).toEqual([page, page]);
    await commands.execute(MenuCommandIDs.showTable);
    await commands.execute(MenuCommandIDs.showTable); // shows it, and does not hide it again
    expect(pane.node.querySelector('table')?.textContent).toContain('cpu (%)');
    opened.mockRestore();
  });

  it('of one of two panes of a plot is about that one', async () => {
    const other = panes.open('progress', 'a', { arguments: { prefix: 'inc' } });
    const pane = panes.create('progress', 'a'); // by a drag
    (other.parent as DockPanel).addWidget(pane); // the board of Notebook 7
    under = pane.view.node;
    await commands.execute(MenuCommandIDs.showTable);
    expect([other, pane].map(one => one.node.querySelector('table') !== null)).toEqual([
      false,
      true
    ]);
    expect([other, pane].map(one => one.isVisible)).toEqual([false, true]);
  });

  it('of a row opens the whole plot beside one that shows a choice, and no second one', async () => {
    const slow = panes.open('progress', 'a', { arguments: { prefix: 'slow' } });
    row('progress').querySelector<HTMLElement>('button')?.click();
    const whole = panes.find('progress', 'a');
    expect([whole?.view.heading, slow.view.heading]).toEqual(['Progress', 'Progress: slow']);
    under = row('progress');
    expect(await commands.execute(MenuCommandIDs.open)).toBe(whole);
    expect(panes.open('progress', 'a', { arguments: { prefix: 'inc' } })).toBe(slow);
    expect([whole?.view.heading, slow.view.heading]).toEqual(['Progress', 'Progress: inc']);
  });

  it('of a stock dashboard offers what can be done with its pages', () => {
    given.dashboards.set(known({ id: 'a', kind: 'stock' }));
    under = row('progress');
    expect(commands.isEnabled(MenuCommandIDs.open)).toBe(false);
    expect(commands.isEnabled(MenuCommandIDs.openInBrowser)).toBe(true);
  });

  it('does nothing where there is no plot', async () => {
    for (const id of Object.values(MenuCommandIDs)) {
      expect([id, commands.isEnabled(id)]).toEqual([id, false]);
      await commands.execute(id); // a rejection fails the test
    }
  });

  describe('before the cluster is listed', () => {
    beforeEach(() => {
      jest.useFakeTimers();
      given.dashboards.set();
    });
    afterEach(() => jest.useRealTimers());

    const open = (): Promise<Pane> => commands.execute(CommandIDs.openPlot, { plot: 'progress' });

    it('a plot waits for the cluster of the notebook in front, and takes it', async () => {
      const pane = await open();
      expect(pane.node.textContent).toContain('Waiting for a cluster of analysis.ipynb…');
      expect(await open()).toBe(pane);
      given.dashboards.set(known({ id: 'b', kernel_id: 'k1' }));
      expect(pane.view.binding.dashboard).toBe('b');
    });

    it('a plot says after three seconds that there is none, and stays ready', async () => {
      const pane = await open();
      await jest.advanceTimersByTimeAsync(3100);
      expect(pane.node.textContent).toContain('analysis.ipynb has no cluster at the moment.');
      given.dashboards.set(known({ id: 'other', kernel_id: 'k2' }));
      expect(pane.view.binding.dashboard).toBe('');
      given.dashboards.set(known({ id: 'b', kernel_id: 'k1' }));
      expect(pane.view.binding.dashboard).toBe('b');
    });

    it('the question for a plot waits for the first cluster', async () => {
      const asked = commands.execute(CommandIDs.openPlot);
      await jest.advanceTimersByTimeAsync(1000);
      expect(document.querySelector('.jp-Dialog')).toBeNull();
      given.dashboards.set(known({ id: 'b', kernel_id: 'k1' }));
      await jest.advanceTimersByTimeAsync(100);
      const dialog = document.querySelector('.jp-Dialog');
      expect(dialog?.querySelectorAll('option')).toHaveLength(known().plots.length);
      dialog?.querySelector<HTMLElement>('.jp-mod-reject')?.click();
      await jest.advanceTimersByTimeAsync(100);
      expect(await asked).toBeNull();
    });
  });
});
