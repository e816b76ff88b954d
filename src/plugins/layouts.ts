/** Opens several panes in one go, beside the notebook, which keeps the focus. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';
import type { Widget } from '@lumino/widgets';

import type { IDashboards, IKnownDashboard } from '../model/dashboards';
import {
  fitted,
  NOTHING_AROUND,
  readableWidth,
  type IFittedStep,
  type IRoom,
  type ITakenPlace
} from '../model/fitting';
import { stacked, STATUS_PAGE, type ILayoutStep } from '../model/layout';
import { IPreferences } from '../model/preferences';
import { BOARD_ID, CommandIDs, PluginIDs } from '../tokens';
import type { Pane } from '../widgets/pane';
import { IPlotServices } from '../widgets/services';
import { firstInPlaces, inFrontOf } from '../widgets/tabfront';
import { DASHBOARD_ARG, describe, textArg } from './args';
import { askDashboard, frontKernel, frontNotebook, whenFound } from './ask';
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
      const front = frontNotebook(notebooks);
      const kernel = frontKernel(notebooks);
      const id = textArg(args, 'dashboard');
      const isPatient = args['isPatient'] === true || !dashboards.isKnown;
      const own = isPatient ? await coming(dashboards, id, kernel) : undefined;
      const found = own ?? (await askDashboard(dashboards, trans, id, kernel));
      if (found !== undefined) {
        const known = layout.filter(({ plot }) => found.plots.some(({ name }) => name === plot));
        const steps = arranged(known, front, app.shell, panes, found.id);
        openLayout(panes, steps, found, front?.id);
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

/**
 * Return the steps of a layout for where it will be: in the room of the notebook, or of Lab's main
 * area where there is none; in Notebook 7 on the board, which is as high as the notebook.
 */
function arranged(
  layout: readonly ILayoutStep[],
  front: NotebookPanel | null,
  { node }: JupyterFrontEnd.IShell,
  panes: IPanes,
  dashboard: string
): readonly IFittedStep[] {
  const place = front === null ? null : inFrontOf(front); // the notebook comes in front again
  const open = openPlaces(panes, layout, dashboard);
  const dock = node.querySelector('#jp-main-dock-panel');
  if (dock !== null) {
    const notebookWidth = place === null ? 0 : readableWidth(roomOf(dock).width);
    const notebook = place?.id ?? '';
    const places = placesOf(panes.seen.filter(({ id }) => id !== notebook));
    return fitted(layout, roomOf(place?.node ?? dock), { notebook, notebookWidth, places, open });
  }
  const board = node.querySelector(`#${BOARD_ID}`);
  // No step makes a pane of the board narrower; a board that is not seen has no height.
  const high = <T extends IRoom>(room: T): T => ({ ...room, width: Infinity });
  const onBoard = new Map([...open].map(([plot, one]) => [plot, high(one)]));
  const room = high(roomOf(place?.node ?? board));
  return fitted(stacked(layout, board === null), room, { ...NOTHING_AROUND, open: onBoard });
}

/** Where the panes of a layout are that are open already, also behind other tabs. */
function openPlaces(
  panes: IPanes,
  layout: readonly ILayoutStep[],
  dashboard: string
): ReadonlyMap<string, ITakenPlace> {
  const open = layout.flatMap(({ plot }): (readonly [string, ITakenPlace])[] => {
    const pane = panes.find(plot, dashboard);
    const front = pane === undefined ? null : inFrontOf(pane);
    return front === null ? [] : [[plot, placeOf(front)]];
  });
  return new Map(open);
}

function placesOf(panes: readonly Pane[]): readonly ITakenPlace[] {
  return panes.map(placeOf).sort((a, b) => b.width * b.height - a.width * a.height);
}

function placeOf({ id, node }: Widget): ITakenPlace {
  return { id, ...roomOf(node) };
}

function roomOf(place: Element | null): IRoom {
  const { width, height } = place?.getBoundingClientRect() ?? { width: 0, height: 0 };
  return { width, height };
}

/** Open each pane where the layout says. The first one in each place is in front there. */
function openLayout(
  panes: IPanes,
  layout: readonly IFittedStep[],
  dashboard: IKnownDashboard,
  notebook: string | undefined
): void {
  const opened = layout.map(step => {
    const placed = step.at === '' ? notebook : panes.find(step.at, dashboard.id)?.id;
    const reference = step.ref ?? placed;
    return panes.open(step.plot, dashboard.id, {
      mode: step.mode,
      ...(reference === undefined ? {} : { ref: reference }),
      isMoved: step.isMoved === true,
      isActivated: false
    });
  });
  firstInPlaces(opened).forEach(pane => panes.reveal(pane));
}
