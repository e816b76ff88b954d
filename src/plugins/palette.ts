/** The plugin of the command palette: all commands, and each plot that some cluster has. */

import { ILabShell } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';

import { CommandIDs } from '../tokens';
import { addOn } from './context';

export const palettePlugin = addOn(
  'palette',
  'Lists the commands of Dask diagnostics in the command palette.',
  [ICommandPalette, ILabShell],
  ({ services: { dashboards, trans } }, palette, labShell) => {
    // The repr button's command is another spelling of “open the usual four”, and Notebook 7 lists
    // each sidebar by itself.
    const hidden = [CommandIDs.reprButton, ...(labShell === null ? [CommandIDs.showSidebar] : [])];
    const category = trans.__('Dask');
    for (const command of Object.values(CommandIDs).filter(id => !hidden.includes(id))) {
      palette?.addItem({ command, category });
    }
    const listed = new Set<string>();
    const listPlots = (): void => {
      for (const { name } of dashboards.all.flatMap(dashboard => dashboard.plots)) {
        if (!listed.has(name)) {
          listed.add(name);
          palette?.addItem({ command: CommandIDs.openPlot, category, args: { plot: name } });
        }
      }
    };
    dashboards.changed.connect(listPlots);
    listPlots();
  }
);
