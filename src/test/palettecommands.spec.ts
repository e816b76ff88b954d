/** What the command palette has of ours. */

import type { IPaletteItem } from '@jupyterlab/apputils';

import { palettePlugin } from '../plugins/palette';
import { CommandIDs } from '../tokens';
import { known } from './dashboards';
import { services } from './plots';

describe('the command palette', () => {
  /** The items there are with Lab's shell, or with that of Notebook 7. */
  const listed = (labShell: object | null): readonly IPaletteItem[] => {
    const items: IPaletteItem[] = [];
    const palette = { addItem: (item: IPaletteItem) => void items.push(item) };
    const given = services();
    given.dashboards.set(known({ id: 'a' }));
    void palettePlugin.activate({} as never, palette, given, labShell); // what is touched of them
    given.dashboards.changed.emit();
    given.look.dispose();
    return items;
  };
  const commands = (labShell: object | null): readonly string[] =>
    listed(labShell).map(({ command }) => command);

  it('has each command once, under one name', () => {
    const inLab = commands({});
    expect(inLab).toContain(CommandIDs.showSidebar);
    expect(inLab).not.toContain(CommandIDs.reprButton);
    // Notebook 7 has a command for each sidebar.
    const { showSidebar } = CommandIDs;
    expect(commands(null)).toEqual(inLab.filter(command => command !== showSidebar));
  });

  it('has each plot once', () => {
    const plots = listed({}).map(({ args }) => args?.['plot']);
    expect(plots.filter(plot => plot === 'task-stream')).toHaveLength(1);
  });
});
