/** The cell that a plot became where it was dropped in a notebook: chosen, and run where that works. */

import { NotebookActions, type INotebookTracker, type Notebook } from '@jupyterlab/notebook';

import type { IPlotServices } from '../widgets/services';
import { frontKernel, frontNotebook, tell } from './ask';

/**
 * Select the dropped cell, and run it: a plot that is dropped is to be seen.
 *
 * @param dashboard - whose plot was dropped; the code does not name it.
 * @param id - of the cell; what was dropped elsewhere became none.
 */
export async function showDropped(
  notebooks: INotebookTracker | null,
  services: Pick<IPlotServices, 'dashboards' | 'trans'>,
  dashboard: string,
  id: string
): Promise<void> {
  const panel = frontNotebook(notebooks);
  if (!panel || !selectCell(panel.content, id)) {
    return;
  }
  const { sessionContext } = panel;
  const doubt = doubtOf(services, dashboard, frontKernel(notebooks));
  if (doubt !== null) {
    tell(doubt);
  } else if (sessionContext.session?.kernel?.status !== 'idle') {
    tell(services.trans.__('The kernel is busy: run the new cell when it is free.'));
  } else {
    await NotebookActions.run(panel.content, sessionContext);
  }
}

/** Why the cell, run by a kernel, might not show that dashboard, in words; null where it does. */
function doubtOf(
  { dashboards, trans }: Pick<IPlotServices, 'dashboards' | 'trans'>,
  dashboard: string,
  kernel: string | undefined
): string | null {
  const own = dashboards.all.filter(
    one => one.kernel_id === kernel && one.state !== 'stale' && one.kind === 'diagnostics'
  );
  if (kernel === undefined || own.length === 0) {
    return trans.__('This notebook has no cluster: make a client, then run the new cell.');
  }
  if (!own.some(one => one.id === dashboard)) {
    const name = dashboards.get(dashboard)?.shownName ?? trans.__('another notebook');
    return trans.__(
      'The plot is of the cluster of %1; the new cell, once run, shows it of this notebook’s own.',
      name
    );
  }
  if (own.length > 1) {
    return trans.__(
      'This notebook has several clusters: the new cell, once run, shows that of its current client.'
    );
  }
  return null;
}

/** Select the cell alone: Lab 4.6 extends the selection to the cell before it. */
function selectCell(notebook: Notebook, id: string): boolean {
  const dropped = notebook.widgets.findIndex(cell => cell.model.id === id);
  if (dropped < 0) {
    return false;
  }
  notebook.deselectAll();
  notebook.activeCellIndex = dropped;
  return true;
}
