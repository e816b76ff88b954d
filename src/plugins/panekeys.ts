/** The commands of the pane in front: what its keys, its toolbar and the palette do. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import type { TranslationBundle } from '@jupyterlab/translation';

import type { Verb } from '../api/session';
import { CommandIDs, PluginIDs } from '../tokens';
import type { Pane } from '../widgets/pane';
import { IPlotServices } from '../widgets/services';
import { describe } from './args';
import { tell } from './ask';
import { IPanes } from './ipanes';

interface IPaneCommand {
  readonly id: string;
  readonly label: string;
  run(pane: Pane): unknown;
}

export const paneKeysPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.paneKeys,
  description: 'Zoom, pan, freeze, save and explain the Dask plot in front.',
  autoStart: true,
  requires: [IPanes, IPlotServices],
  activate: (app: JupyterFrontEnd, panes: IPanes, { trans }: IPlotServices): void => {
    for (const command of paneCommands(trans)) {
      app.commands.addCommand(command.id, {
        label: command.label,
        describedBy: describe(),
        isEnabled: () => panes.current !== null,
        execute: async () => {
          const pane = panes.current;
          if (pane === null) {
            return;
          }
          try {
            await command.run(pane);
          } catch (reason) {
            tell(reason instanceof Error ? reason.message : String(reason));
          }
        }
      });
    }
  }
};

function paneCommands(trans: TranslationBundle): readonly IPaneCommand[] {
  const verb = (id: string, verb: Verb, label: string): IPaneCommand => ({
    id,
    label,
    run: pane => pane.send(verb)
  });
  return [
    verb(CommandIDs.zoomIn, 'zoom-in', trans.__('Zoom in')),
    verb(CommandIDs.zoomOut, 'zoom-out', trans.__('Zoom out')),
    verb(CommandIDs.panLeft, 'pan-left', trans.__('Pan to earlier')),
    verb(CommandIDs.panRight, 'pan-right', trans.__('Pan to later')),
    verb(CommandIDs.fitPlot, 'fit', trans.__('Fit all into the plot')),
    verb(CommandIDs.followLive, 'live', trans.__('Follow live data')),
    verb(CommandIDs.freezePlot, 'freeze', trans.__('Freeze or unfreeze the plot')),
    verb(CommandIDs.clearPlot, 'clear', trans.__('Clear the plot')),
    {
      id: CommandIDs.showTable,
      label: trans.__('Show data as a table'),
      run: p => p.toggleTable()
    },
    { id: CommandIDs.savePicture, label: trans.__('Save picture'), run: p => p.savePicture() },
    { id: CommandIDs.showHelp, label: trans.__('How to read this plot'), run: p => p.toggleHelp() }
  ];
}
