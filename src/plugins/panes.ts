/** Provides panes, keeps track of them, and brings them back after a page reload. */

import {
  ILabShell,
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { INotebookTracker } from '@jupyterlab/notebook';

import { CommandIDs, PluginIDs } from '../tokens';
import { IPlotServices } from '../widgets/services';
import { IPanes } from './ipanes';
import { addOpenCommand } from './openplot';
import { PaneList } from './panelist';

export const panesPlugin: JupyterFrontEndPlugin<IPanes> = {
  id: PluginIDs.panes,
  description: 'Panes with live Dask plots.',
  autoStart: true,
  requires: [IPlotServices],
  optional: [ILabShell, ILayoutRestorer, INotebookTracker],
  provides: IPanes,
  activate: (
    app: JupyterFrontEnd,
    services: IPlotServices,
    labShell: ILabShell | null,
    restorer: ILayoutRestorer | null,
    notebooks: INotebookTracker | null
  ): IPanes => {
    const panes = new PaneList(app, services, labShell, notebooks);
    addOpenCommand(app, services, panes, notebooks);
    if (restorer !== null) {
      void restorer.restore(panes.tracker, {
        command: CommandIDs.openPlot,
        args: pane => ({
          plot: pane.state.plot,
          key: pane.key,
          binding: { ...pane.state.binding },
          arguments: { ...pane.state.arguments }
        }),
        name: pane => pane.key
      });
    }
    return panes;
  }
};
