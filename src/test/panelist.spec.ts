/** Where panes are put on screen. */

import type { ILabShell, JupyterFrontEnd } from '@jupyterlab/application';
import { Widget, type DockLayout } from '@lumino/widgets';

import { PaneList } from '../plugins/panelist';
import { known } from './dashboards';
import { services } from './plots';

// All of Lab's notebook would be loaded for a name that is not used without a notebook.
jest.mock('@jupyterlab/notebook', () => ({ INotebookTracker: {} }));

describe.each([
  ['multiple-document', 'split-right'],
  ['single-document', undefined]
] as const)('a pane in Lab that shows documents as %s', (mode, expected) => {
  it(`is added as ${expected ?? 'the one that is shown'}`, () => {
    const given = services();
    const modes: (string | undefined)[] = [];
    const shell = {
      mode,
      add: (widget: Widget, _area: string, options: DockLayout.IAddOptions) => {
        modes.push(options.mode);
        Widget.attach(widget, document.body);
      },
      activateById: () => undefined
    };
    given.dashboards.set(known({ id: 'a' }));
    const app = { shell } as unknown as JupyterFrontEnd; // what is touched of it
    const list = new PaneList(app, given, shell as unknown as ILabShell, null); // as above
    const pane = list.open('progress', 'a');
    expect(modes).toEqual([expected]);
    pane.dispose();
    given.look.dispose();
  });
});
