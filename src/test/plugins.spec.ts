import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { nullTranslator } from '@jupyterlab/translation';

import plugins from '../index';
import { diagnosticsPlugin } from '../plugins/main';
import { meantDashboard, shownNames } from '../api/dashboards';
import { storageKey } from '../plot/look';
import { CommandIDs, TRANSLATION_DOMAIN } from '../tokens';
import { dashboard, DashboardList } from './dashboards';
import { FakeApp } from './services';

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
async function activated(): Promise<FakeApp> {
  const app = new FakeApp();
  const front = app as unknown as JupyterFrontEnd; // all that the plugin asks of it
  const dashboards = new DashboardList();
  dashboards.set(own);
  const labShell = { mode: 'multiple-document' };
  const others = [null, null, null]; // translator, themes, settings
  const places = Array(7).fill(null); // from the restorer to the palette
  await diagnosticsPlugin.activate(front, dashboards, ...others, labShell, ...places);
  await Promise.resolve();
  return app;
}

/** Where the panes were put that a command opened. */
const modes = ({ added }: FakeApp): unknown[] =>
  added
    .filter(([id]) => id.startsWith('dask-diag-lab-pane'))
    .map(([, options]) => (options as { mode: string }).mode);

it('every plugin has an id of its own, and every command a label', async () => {
  expect(new Set(plugins.map(({ id }) => id)).size).toBe(plugins.length);
  const app = await activated();
  for (const id of Object.values(CommandIDs)) {
    expect(app.commands.label(id)).not.toBe('');
  }
});

it('the settings know each command of their menus and keys, and the domain of our texts', async () => {
  const app = await activated();
  const { context } = SCHEMA['jupyter.lab.menus'];
  const named = [...context, ...SCHEMA['jupyter.lab.shortcuts']].flatMap(one => one.command ?? []);
  expect(named.filter(id => !app.commands.hasCommand(id))).toEqual([]);
  expect(SCHEMA['jupyter.lab.internationalization'].domain).toBe(TRANSLATION_DOMAIN);
  expect(nullTranslator.load(TRANSLATION_DOMAIN)).toBeDefined();
});

it('what the browser keeps is of one server of a hub', () => {
  expect(storageKey('theme', '/user/a/')).not.toBe(storageKey('theme', '/user/b/'));
});

it('Escape alone wipes nothing', () => {
  const keys = SCHEMA['jupyter.lab.shortcuts'].filter(one => one.command === CommandIDs.clearPlot);
  expect(keys.map(one => one.keys)).toEqual([['Shift Escape']]);
});

it('the usual four lie around the notebook, or in two places where that would be too narrow', async () => {
  for (const [width, expected] of [
    [600, ['split-right', 'split-bottom', 'split-right', 'split-right']],
    [300, ['split-right', 'split-bottom', 'tab-after', 'tab-after']]
  ] as const) {
    const app = await activated();
    jest.spyOn(HTMLElement.prototype, 'clientWidth', 'get').mockReturnValue(width);
    await app.commands.execute(CommandIDs.openLayout, { dashboard: 'own' });
    expect(modes(app).length).toBeGreaterThan(1);
    expect(modes(app)).toEqual(expected.slice(0, modes(app).length));
  }
});

it('the next pane goes behind the one used last, and what is open is not opened again', async () => {
  const app = await activated();
  for (const plot of ['progress', 'task-stream', 'progress']) {
    await app.commands.execute(CommandIDs.openPlot, { plot, dashboard: 'own' });
  }
  expect(modes(app)).toHaveLength(2);
  expect(modes(app)[0]).toBe('split-right');
  expect(app.commands.isEnabled(CommandIDs.closePlots)).toBe(true);
  await app.commands.execute(CommandIDs.closePlots, { dashboard: 'own' });
  expect(app.commands.isEnabled(CommandIDs.closePlots)).toBe(false);
});

it('closing the plots of a cluster closes none that wait for another one', async () => {
  const app = await activated();
  const binding = { dashboard: '', kernel: 'k9', notebook: null, name: 'b.ipynb' };
  await app.commands.execute(CommandIDs.openPlot, { plot: 'progress', key: 'waiting', binding });
  await app.commands.execute(CommandIDs.openPlot, { plot: 'progress', dashboard: 'own' });
  await app.commands.execute(CommandIDs.closePlots, { dashboard: 'own' });
  await app.commands.execute(CommandIDs.closePlots); // nobody says whose
  expect(app.commands.isEnabled(CommandIDs.closePlots)).toBe(true);
});

describe('the dashboards of the page', () => {
  it('are told apart by name', () => {
    expect(shownNames(['127.0.0.1:8787/a/b'])).toEqual(['127.0.0.1:8787/a/b']);
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
