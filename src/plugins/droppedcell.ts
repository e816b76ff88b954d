/** The cell that a plot became where it was dropped in a notebook: chosen, and run where that works. */

import { NotebookActions, type INotebookTracker, type Notebook } from '@jupyterlab/notebook';

import type { IPlotServices } from '../widgets/services';
import { frontKernel, tell } from './ask';

/** Select the dropped cell, and run it: a plot that is dropped is to be seen. */
export async function showDropped(
  notebooks: INotebookTracker | null,
  { dashboards, trans }: Pick<IPlotServices, 'dashboards' | 'trans'>,
  code: string
): Promise<void> {
  const panel = notebooks?.currentWidget;
  if (!panel || !selectCell(panel.content, code)) {
    return;
  }
  const { sessionContext } = panel;
  const kernel = frontKernel(notebooks);
  const hasCluster = dashboards.all.some(
    one => one.kernel_id === kernel && one.state !== 'stale' && one.kind === 'diagnostics'
  );
  if (kernel === undefined || !hasCluster) {
    tell(trans.__('This notebook has no cluster: make a client, then run the new cell.'));
  } else if (sessionContext.session?.kernel?.status !== 'idle') {
    tell(trans.__('The kernel is busy: run the new cell when it is free.'));
  } else {
    await NotebookActions.run(panel.content, sessionContext);
  }
}

/** Select the cell alone: Lab 4.6 extends the selection to the cell before it. */
function selectCell(notebook: Notebook, code: string): boolean {
  const active = notebook.activeCellIndex;
  const dropped = notebook.widgets.findIndex(
    (cell, i) => Math.abs(i - active) <= 1 && cell.model.sharedModel.getSource() === code
  );
  if (dropped < 0) {
    return false;
  }
  notebook.deselectAll();
  notebook.activeCellIndex = dropped;
  return true;
}
