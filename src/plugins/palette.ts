/** Puts every command, and every plot there is, into the command palette; each once. */

import {
  ILabShell,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette } from '@jupyterlab/apputils';

import { CommandIDs, PluginIDs } from '../tokens';
import { IPlotServices } from '../widgets/services';

export const palettePlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.palette,
  description: 'Dask diagnostics in the command palette.',
  autoStart: true,
  requires: [ICommandPalette, IPlotServices],
  optional: [ILabShell],
  activate: (
    _: JupyterFrontEnd,
    palette: ICommandPalette,
    { dashboards, trans }: IPlotServices,
    labShell: ILabShell | null
  ): void => {
    const category = trans.__('Dask');
    const said = saidOtherwise(labShell);
    for (const command of Object.values(CommandIDs).filter(id => !said.includes(id))) {
      palette.addItem({ command, category });
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

/** The commands that the palette has by another name already. */
function saidOtherwise(labShell: ILabShell | null): readonly string[] {
  // The repr button's command is another spelling of “open the usual four”.
  const always: readonly string[] = [CommandIDs.reprButton];
  // Notebook 7 lists each sidebar itself, ours as “Show Dask diagnostics”.
  return labShell === null ? [...always, CommandIDs.showSidebar] : always;
}
