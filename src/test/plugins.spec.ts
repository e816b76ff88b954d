import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';

import plugins from '../index';
import { layoutOf, layoutsPlugin } from '../plugins/layouts';
import { linksPlugin } from '../plugins/links';
import { notebooksPlugin } from '../plugins/notebooks';
import { paneKeysPlugin, panesPlugin } from '../plugins/panes';
import type { IPreferences } from '../plugins/services';
import { sidebarPlugin } from '../plugins/sidebar';
import type { PaneList } from '../plugins/panelist';
import { DashboardsModel, meantDashboard, shownNames } from '../api/dashboards';
import type { DashboardsFeed } from '../api/feed';
import { CommandIDs, TRANSLATION_DOMAIN } from '../tokens';
import { dashboard } from './dashboards';
import { FakeApp, services } from './services';

interface ISchema {
  readonly 'jupyter.lab.internationalization': { readonly domain: string };
  readonly 'jupyter.lab.menus': { readonly context: readonly { readonly command?: string }[] };
  readonly 'jupyter.lab.shortcuts': readonly {
    readonly command: string;
    readonly keys: readonly string[];
  }[];
}
const SCHEMA = JSON.parse(
  readFileSync(join(__dirname, '../../schema/plugin.json'), 'utf8')
) as ISchema; // written by us

const own = dashboard({ id: 'own', kernel_id: 'k1' });

/** An application with all our commands. */
async function activated(): Promise<{ app: FakeApp; panes: PaneList }> {
  const app = new FakeApp();
  const front = app as unknown as JupyterFrontEnd; // all that the plugins ask of it
  const given = services();
  given.dashboards.set(own);
  const preferences: IPreferences = {
    favorites: new Set(),
    layout: layoutOf([]),
    showsStatus: true,
    palette: 'viridis',
    changed: new Signal<IPreferences, void>({} as IPreferences), // emits nothing here
    toggleFavorite: () => undefined
  };
  const labShell = { mode: 'multiple-document' };
  const panes = (await panesPlugin.activate(front, given, labShell, null, null)) as PaneList;
  await paneKeysPlugin.activate(front, panes, given);
  await layoutsPlugin.activate(front, panes, given, preferences, null);
  await sidebarPlugin.activate(front, panes, given, preferences, null, null, null);
  await notebooksPlugin.activate(front, given, null, null);
  await linksPlugin.activate(front, given, panes, null);
  await Promise.resolve();
  return { app, panes };
}

it('every plugin has an id of its own, and every command a label', async () => {
  expect(new Set(plugins.map(({ id }) => id)).size).toBe(plugins.length);
  const { app } = await activated();
  for (const id of Object.values(CommandIDs)) {
    expect(app.commands.label(id)).not.toBe('');
  }
});

it('the settings know each command of their menus and keys, and the domain of our texts', async () => {
  const { app } = await activated();
  const { context } = SCHEMA['jupyter.lab.menus'];
  const named = [...context, ...SCHEMA['jupyter.lab.shortcuts']].flatMap(one => one.command ?? []);
  expect(named.filter(id => !app.commands.hasCommand(id))).toEqual([]);
  expect(SCHEMA['jupyter.lab.internationalization'].domain).toBe(TRANSLATION_DOMAIN);
  expect(nullTranslator.load(TRANSLATION_DOMAIN)).toBeDefined();
});

it('Escape alone wipes nothing', () => {
  const keys = SCHEMA['jupyter.lab.shortcuts'].filter(one => one.command === CommandIDs.clearPlot);
  expect(keys.map(one => one.keys)).toEqual([['Shift Escape']]);
});

it('the usual four lie around the notebook, or in tabs where that would be too narrow', async () => {
  for (const [width, modes] of [
    [1400, ['split-right', 'split-bottom', 'split-right', 'split-right']],
    [800, ['split-right', 'tab-after', 'tab-after', 'tab-after']]
  ] as const) {
    const { app, panes } = await activated();
    Object.defineProperty(app.shell.node, 'clientWidth', { value: width });
    await app.commands.execute(CommandIDs.openLayout, { dashboard: 'own' });
    const known = new Set(own.plots.map(({ name }) => name));
    const expected = layoutOf([]).filter(({ plot }) => known.has(plot)).length;
    expect(panes.of('own')).toHaveLength(expected);
    const placed = app.added.filter(([id]) => id.startsWith('dask-diag-lab-pane'));
    expect(placed.map(([, options]) => (options as { mode: string }).mode)).toEqual(
      modes.slice(0, expected)
    );
  }
});

it('a layout of the settings loses what cannot be placed', () => {
  const steps = [
    { plot: 'cpu', mode: 'split-right', at: 'missing' },
    { plot: 'progress', mode: 'split-right' },
    { plot: 'graph', mode: 'sideways', at: 'progress' },
    { plot: 'graph', mode: 'tab-after', at: 'progress' }
  ];
  expect(layoutOf(steps).map(({ plot, mode }) => `${plot} ${mode}`)).toEqual([
    'progress split-right',
    'graph tab-after'
  ]);
});

it('all plots of a cluster go to another one, or are closed, by one command', async () => {
  const { app, panes } = await activated();
  await app.commands.execute(CommandIDs.openPlot, { plot: 'progress', dashboard: 'own' });
  await app.commands.execute(CommandIDs.openPlot, { plot: 'graph', dashboard: 'own' });
  expect(panes.of('own')).toHaveLength(2);
  await app.commands.execute(CommandIDs.closePlots, { dashboard: 'own' });
  expect(panes.of('own')).toHaveLength(0);
});

describe('the dashboards of the page', () => {
  const feed = {
    received: new Signal<object, readonly object[]>({}),
    stateChanged: new Signal<object, void>({}),
    state: 'live',
    problem: ''
  };
  const sessions = {
    running: () => [{ kernel: { id: 'k1' }, path: 'work/a.ipynb' }].values(),
    runningChanged: new Signal<object, void>({})
  };
  const model = new DashboardsModel(
    feed as unknown as DashboardsFeed, // all that is used of them
    sessions as unknown as ConstructorParameters<typeof DashboardsModel>[1]
  );

  it('have the names of their notebooks, and a tag where there are several', () => {
    feed.received.emit([own]);
    expect(model.get('own')?.shownName).toBe('a.ipynb');
    expect(model.tag('own')).toBeNull();
    feed.received.emit([own, { ...own, id: 'other', kernel_id: null, name: 'x' }]);
    expect(model.all.map(one => one.shownName)).toEqual(['a.ipynb', 'x']);
    expect(model.tag('own')?.title).toBe('a.ipynb');
  });

  it('are remembered with the time at which they went', () => {
    feed.received.emit([]);
    expect(model.goneAt('own')).toBeGreaterThan(0);
    expect(model.goneAt('unknown')).toBeUndefined();
  });

  it('are told apart by name', () => {
    expect(shownNames(['x/a.ipynb', 'y/a.ipynb', 'b', 'b'])).toEqual([
      'x/a.ipynb',
      'y/a.ipynb',
      'b',
      'b (2)'
    ]);
  });

  it('are meant by name, by the notebook in front, or as the only one', () => {
    const other = { ...own, id: 'other', kernel_id: 'k2' };
    expect(meantDashboard([own, other], 'other', 'k1')).toBe(other);
    expect(meantDashboard([own, other], undefined, 'k1')).toBe(own);
    expect(meantDashboard([own, other], undefined, undefined)).toBeUndefined();
    expect(meantDashboard([own, { ...other, state: 'stale' }], undefined, undefined)).toBe(own);
  });
});
