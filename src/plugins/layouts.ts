/** Opens several panes in one go, beside the notebook, which keeps the focus. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import type { IDashboards, IKnownDashboard } from '../model/dashboards';
import { fitted, STATUS_PAGE, type ILayoutStep, type IRoom } from '../model/layout';
import { IPreferences } from '../model/preferences';
import { BOARD_ID, CommandIDs, PluginIDs } from '../tokens';
import { IPlotServices } from '../widgets/services';
import { DASHBOARD_ARG, describe, textArg } from './args';
import { askDashboard, frontKernel, whenFound } from './ask';
import { IPanes } from './ipanes';

/** How long a cluster that was just made may take to reach the list (ms). */
const PATIENCE_MS = 8000;

export const layoutsPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.layouts,
  description: 'Opens the usual four Dask plots, or those of the status page.',
  autoStart: true,
  requires: [IPanes, IPlotServices, IPreferences],
  optional: [INotebookTracker],
  activate: (
    app: JupyterFrontEnd,
    panes: IPanes,
    services: IPlotServices,
    preferences: IPreferences,
    notebooks: INotebookTracker | null
  ): void => {
    const { dashboards, trans } = services;
    const open = async (
      args: ReadonlyPartialJSONObject,
      layout: readonly ILayoutStep[]
    ): Promise<void> => {
      const front = notebooks?.currentWidget ?? null;
      const kernel = frontKernel(notebooks);
      const id = textArg(args, 'dashboard');
      const isPatient = args['isPatient'] === true || !dashboards.isKnown;
      const own = isPatient ? await coming(dashboards, id, kernel) : undefined;
      const found = own ?? (await askDashboard(dashboards, trans, id, kernel));
      if (found !== undefined) {
        openLayout(panes, fitted(layout, roomOf(front, app.shell)), found, front?.id);
        if (front !== null && !front.isDisposed) {
          app.shell.activateById(front.id);
        }
      }
    };
    app.commands.addCommand(CommandIDs.openLayout, {
      label: trans.__('Open the usual four'),
      caption: trans.__('Open the usual plots of a Dask cluster beside the notebook'),
      describedBy: describe({ ...DASHBOARD_ARG, ...PATIENT_ARG }),
      execute: args => open(args, preferences.layout)
    });
    app.commands.addCommand(CommandIDs.openStatusLayout, {
      label: trans.__('Open the status page as panes'),
      caption: trans.__('Open the plots of Dask’s status page beside the notebook'),
      describedBy: describe({ ...DASHBOARD_ARG, ...PATIENT_ARG }),
      execute: args => open(args, STATUS_PAGE)
    });
  }
};

const PATIENT_ARG = {
  isPatient: {
    type: 'boolean',
    description: 'Wait for the cluster of the notebook in front to reach the list.'
  }
};

/** The dashboard of the notebook in front (or the one named), which may still be on its way. */
function coming(
  dashboards: IDashboards,
  id: string | undefined,
  kernel: string | undefined
): Promise<IKnownDashboard | undefined> {
  const isMeant = (one: IKnownDashboard): boolean =>
    id !== undefined ? one.id === id : kernel === undefined || one.kernel_id === kernel;
  const find = (): IKnownDashboard | undefined =>
    dashboards.all
      .filter(one => isMeant(one) && one.state === 'live' && one.plots.length > 0)
      .pop();
  return whenFound(dashboards, find, PATIENCE_MS);
}

/** Lab's main area, else the board of Notebook 7. */
const AREAS = ['#jp-main-dock-panel', `#${BOARD_ID}`];

/** The room of the notebook, or of the main area where no notebook is seen. */
function roomOf(front: NotebookPanel | null, shell: JupyterFrontEnd.IShell): IRoom {
  const areas = AREAS.map(selector => shell.node.querySelector(selector));
  const node = front?.isVisible === true ? front.node : areas.find(area => area !== null);
  return node?.getBoundingClientRect() ?? { width: 0, height: 0 };
}

/** Open each pane where the layout says; panes that are open stay where they are. */
function openLayout(
  panes: IPanes,
  layout: readonly ILayoutStep[],
  dashboard: IKnownDashboard,
  notebook: string | undefined
): void {
  const known = new Set(dashboard.plots.map(plot => plot.name));
  for (const step of layout.filter(({ plot }) => known.has(plot))) {
    const reference = step.at === '' ? notebook : panes.find(step.at, dashboard.id)?.id;
    panes.open(step.plot, dashboard.id, {
      mode: step.mode,
      ...(reference === undefined ? {} : { ref: reference }),
      isActivated: false
    });
  }
}
