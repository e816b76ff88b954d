/** Where the keys of the schema act: in the pane that has the focus, and nowhere else. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { MessageLoop } from '@lumino/messaging';
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

  /** Put an element into a shadow root inside the picture, as Bokeh does, and press a key in it. */
  function pressIn(inner: HTMLElement, key: string): string[] {
    const host = document.createElement('div');
    pane.view.node.append(host);
    host.attachShadow({ mode: 'open' }).append(inner);
    inner.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, composed: true }));
    const reached = reach(host); // a listener of the page is told the host
    host.remove();
    return reached;
  }

  it.each(['w', '?', '/', ' '])('leave “%s” to a text field of the plot', key => {
    const field = document.createElement('input');
    field.type = 'text';
    expect(pressIn(field, key)).toEqual(['dask-diag-lab:clear-plot']);
    expect(pressIn(document.createElement('select'), key)).toEqual(['dask-diag-lab:clear-plot']);
  });

  it('leave Space to a button of the plot, and nothing else', () => {
    expect(pressIn(document.createElement('button'), ' ')).not.toContain(freeze);
    expect(pressIn(document.createElement('button'), 'w')).toContain('dask-diag-lab:zoom-in');
  });

  it('act again once the focus has left the field', () => {
    pressIn(document.createElement('textarea'), 'w');
    expect(pressIn(document.createElement('div'), 'w')).toContain('dask-diag-lab:zoom-in');
  });

  it('lead out of a field by Esc, which clears nothing', () => {
    const asked = jest.spyOn(pane.view, 'send');
    pressIn(document.createElement('input'), 'Escape');
    pane.send('clear');
    MessageLoop.flush();
    expect(asked).not.toHaveBeenCalled();
    expect(document.activeElement).toBe(pane.view.node);
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 2000); // no slip
    pressIn(document.createElement('div'), 'Escape');
    pane.send('clear');
    expect(asked).toHaveBeenCalledWith('clear');
    clock.mockRestore();
    asked.mockRestore();
  });

  it('do nothing in a plot of a notebook’s output', () => {
    const output = new PlotView(options);
    Widget.attach(output, document.body);
    expect(reach(output.node)).toEqual([]);
    output.dispose();
  });
});
