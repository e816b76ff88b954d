/** Puts fixed code into the notebook in front: a local cluster, or a plot. Runs nothing. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker, NotebookActions, type Notebook } from '@jupyterlab/notebook';

import { LOCAL_CLUSTER, plotCode } from '../model/snippets';
import { CommandIDs, PluginIDs } from '../tokens';
import { IPlotServices } from '../widgets/services';
import { describe, PLOT_ARG, textArg } from './args';
import { frontNotebook, tell } from './ask';

export const cellsPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.cells,
  description: 'Inserts code for a local Dask cluster or a plot into the notebook in front.',
  autoStart: true,
  requires: [IPlotServices],
  optional: [INotebookTracker],
  activate: (
    app: JupyterFrontEnd,
    { trans }: IPlotServices,
    notebooks: INotebookTracker | null
  ): void => {
    const insert = (code: string): void => {
      const front = frontNotebook(notebooks);
      if (front === null || !insertCode(front.content, code)) {
        tell(trans.__('Open a notebook first; the code goes into the one in front.'));
      } else {
        app.shell.activateById(front.id);
      }
    };
    app.commands.addCommand(CommandIDs.insertClient, {
      label: trans.__('Insert code for a local cluster'),
      describedBy: describe(),
      execute: () => insert(LOCAL_CLUSTER)
    });
    app.commands.addCommand(CommandIDs.insertPlot, {
      label: trans.__('Insert code that shows a plot'),
      describedBy: describe(PLOT_ARG),
      execute: args => insert(plotCode(textArg(args, 'plot') ?? 'task-stream'))
    });
  }
};

/** Put code into the active cell if it is empty, else into a new one below; false while there is none. */
function insertCode(notebook: Notebook, code: string): boolean {
  if (notebook.model === null) {
    return false;
  }
  const isFree =
    notebook.activeCell?.model.type === 'code' &&
    notebook.activeCell.model.sharedModel.getSource().trim() === '';
  if (!isFree) {
    NotebookActions.insertBelow(notebook);
  }
  notebook.activeCell?.model.sharedModel.setSource(code);
  return true;
}
