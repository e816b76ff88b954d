/** Puts every command, and every plot there is, into the command palette. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';

import { CommandIDs, PluginIDs } from '../tokens';
import { IPlotServices } from '../widgets/services';

export const palettePlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.palette,
  description: 'Dask diagnostics in the command palette.',
  autoStart: true,
  requires: [ICommandPalette, IPlotServices],
  activate: (
    _: JupyterFrontEnd,
    palette: ICommandPalette,
    { dashboards, trans }: IPlotServices
  ): void => {
    const category = trans.__('Dask');
    for (const command of Object.values(CommandIDs)) {
      // The repr button's command is another spelling of “open the usual four”.
      if (command !== CommandIDs.reprButton) {
        palette.addItem({ command, category });
      }
    }
    const listed = new Set<string>();
    const listPlots = (): void => {
      for (const { name } of dashboards.all.flatMap(dashboard => dashboard.plots)) {
        if (!listed.has(name)) {
          listed.add(name);
          palette.addItem({ command: CommandIDs.openPlot, category, args: { plot: name } });
        }
      }
    };
    dashboards.changed.connect(listPlots);
    listPlots();
  }
};
