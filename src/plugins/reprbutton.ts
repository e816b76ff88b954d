/** Answers the “Launch dashboard in JupyterLab” button of Dask's own Client repr. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { CommandIDs, PluginIDs } from '../tokens';
import { IPlotServices } from '../widgets/services';
import { describe } from './args';

export const reprButtonPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.reprButton,
  description: 'Opens the usual four from the button in Dask’s Client repr.',
  autoStart: true,
  requires: [IPlotServices],
  activate: (app: JupyterFrontEnd, { trans }: IPlotServices): void => {
    // Late, so that an extension that brings this command of its own keeps it: a second
    // registration would throw.
    void app.restored.then(() => {
      if (app.commands.hasCommand(CommandIDs.reprButton)) {
        return;
      }
      app.commands.addCommand(CommandIDs.reprButton, {
        label: trans.__('Launch dashboard in JupyterLab'),
        describedBy: describe({
          url: {
            type: 'string',
            description: 'Address of the stock dashboard; the notebook in front decides instead.'
          }
        }),
        // The address is never contacted: the notebook that was clicked in is in front.
        execute: () => app.commands.execute(CommandIDs.openLayout, { isPatient: true })
      });
    });
  }
};
