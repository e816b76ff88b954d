/** Where the keys of the schema act: in the pane that has the focus, and nowhere else. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { Widget } from '@lumino/widgets';

import { bindingOf } from '../model/binding';
import { Pane } from '../widgets/pane';
import { PlotView } from '../widgets/plotview';
import { known } from './dashboards';
import { services } from './plots';

interface IShortcut {
  readonly command: string;
  readonly selector: string;
}

const path = join(__dirname, '../../schema/plugin.json');
const schema = JSON.parse(readFileSync(path, 'utf8')) as Record<string, IShortcut[]>;
const shortcuts = schema['jupyter.lab.shortcuts']!;

/** The commands whose selector matches on the way from an element up, as Lumino looks for them. */
function reach(element: Element): string[] {
  return shortcuts
    .filter(({ selector }) => element.closest(selector) !== null)
    .map(({ command }) => command);
}

describe('the keys', () => {
  const given = services();
  const options = { plot: 'cpu', binding: bindingOf(known()), services: given };
  const pane = new Pane(options, 'key');
  const freeze = 'dask-diag-lab:freeze-plot';

  beforeAll(() => Widget.attach(pane, document.body));
  afterAll(() => pane.dispose());

  it('act all on the picture of a pane', () => {
    expect(reach(pane.view.node)).toHaveLength(shortcuts.length);
  });

  it('leave Space to the buttons of the toolbar', () => {
    const commands = reach(pane.node.querySelector('[role="toolbar"] button')!);
    expect(commands).not.toContain(freeze);
    expect(commands).toContain('dask-diag-lab:fit-plot');
  });

  it('leave what is typed into a field of the plot alone', () => {
    const field = document.createElement('input');
    pane.view.node.append(field);
    field.focus();
    expect(reach(field)).toEqual(['dask-diag-lab:clear-plot']);
    field.remove();
  });

  it('do nothing in a plot of a notebook’s output', () => {
    const output = new PlotView(options);
    Widget.attach(output, document.body);
    expect(reach(output.node)).toEqual([]);
    output.dispose();
  });
});
