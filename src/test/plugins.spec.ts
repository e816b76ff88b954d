import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ILabShell } from '@jupyterlab/application';
import type { Token } from '@lumino/coreutils';

import { meantDashboard, shownNames } from '../dashboards/dashboards';
import plugins, { IDashboards } from '../index';
import { CommandIDs, NAMESPACE, TRANSLATION_DOMAIN } from '../tokens';
import { dashboard, DashboardList } from './dashboards';
import { FakeApp } from './services';

/** An item of a menu, or of a toolbar. */
interface IItem {
  readonly command?: string;
  readonly args?: Record<string, string>;
  readonly submenu?: { readonly items: readonly IItem[] };
  readonly items?: readonly IItem[];
}

interface ISchema {
  readonly 'jupyter.lab.internationalization': { readonly domain: string };
  readonly 'jupyter.lab.menus'?: Readonly<Record<'context' | 'main', readonly IItem[] | undefined>>;
  readonly 'jupyter.lab.toolbars'?: Readonly<Record<string, readonly IItem[]>>;
  readonly 'jupyter.lab.shortcuts'?: readonly {
    readonly command: string;
    readonly keys: readonly string[];
  }[];
}
const FOLDER = join(__dirname, '../../schema');
const SCHEMAS = readdirSync(FOLDER).map(
  name => [name, JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as ISchema] as const // by us
);
const SHORTCUTS = SCHEMAS.flatMap(([, schema]) => schema['jupyter.lab.shortcuts'] ?? []);
const ITEMS = SCHEMAS.flatMap(([, schema]) => [
  ...Object.values(schema['jupyter.lab.menus'] ?? {}).flatMap(one => one ?? []),
  ...Object.values(schema['jupyter.lab.toolbars'] ?? {}).flat()
]).flatMap(function flat(item: IItem): IItem[] {
  const below = [...(item.items ?? []), ...(item.submenu?.items ?? [])];
  return [item, ...below.flatMap(flat)];
});

const own = dashboard({ id: 'own', kernel_id: 'k1' });

/** An application with our plugins, activated as Lab does it, but for what is switched off. */
async function activated(...isOff: readonly string[]): Promise<FakeApp> {
  const app = new FakeApp();
  const dashboards = new DashboardList();
  dashboards.set(own);
  const provided = new Map<Token<unknown>, unknown>([
    [IDashboards, dashboards],
    [ILabShell, { mode: 'multiple-document' }]
  ]);
  const front = app as unknown as JupyterFrontEnd; // all that the plugins ask of it
  const all: readonly JupyterFrontEndPlugin<unknown>[] = plugins;
  for (const { id, requires = [], optional = [], provides, activate } of all) {
    if (id !== 'dask-diag-lab:dashboards' && !isOff.includes(id)) {
      const given = [...requires, ...optional].map(token => provided.get(token) ?? null);
      const service = await activate(front, ...given);
      if (provides) {
        provided.set(provides, service);
      }
    }
  }
  await Promise.resolve();
  return app;
}

/** Where the panes were put that a command opened. */
const modes = ({ added }: FakeApp): unknown[] =>
  added
    .filter(([id]) => id.startsWith('dask-diag-lab-pane'))
    .map(([, options]) => (options as { mode: string }).mode);

it('every plugin has an id of its own, and every command a label and a schema of its arguments', async () => {
  expect(new Set(plugins.map(({ id }) => id)).size).toBe(plugins.length);
  const { commands } = await activated();
  for (const id of Object.values(CommandIDs)) {
    expect([id, commands.label(id)]).not.toEqual([id, '']);
    expect(await commands.describedBy(id)).toMatchObject({ args: { type: 'object' } });
  }
});

it.each(plugins.map(({ id }) => id).filter(id => id !== 'dask-diag-lab:plugin'))(
  'the others go on without %s',
  async id => {
    await activated(id);
  }
);

it('the settings know each command of their menus, buttons and keys, which have icons', async () => {
  const { commands } = await activated();
  for (const { command, args = {} } of ITEMS.filter(one => one.command !== undefined)) {
    const icon = commands.icon(command!, { toolbar: true, ...args });
    expect([command, typeof icon]).toEqual([command, 'object']);
  }
  expect(SHORTCUTS.filter(one => !commands.hasCommand(one.command))).toEqual([]);
});

it('each schema belongs to a plugin, and names the domain of our texts', () => {
  for (const [name, schema] of SCHEMAS) {
    expect(plugins.map(({ id }) => id)).toContain(`${NAMESPACE}:${name.replace('.json', '')}`);
    expect(schema['jupyter.lab.internationalization'].domain).toBe(TRANSLATION_DOMAIN);
  }
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
