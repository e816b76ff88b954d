/** Opens several panes in one go, beside the notebook, which keeps the focus. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker } from '@jupyterlab/notebook';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import type { IKnownDashboard } from '../api/dashboards';
import { isText, type Fields } from '../plot/control';
import { CommandIDs, PluginIDs } from '../tokens';
import { IPlotServices } from '../widgets/services';
import { askDashboard, DASHBOARD_ARG, describe, frontKernel, textArg, whenFound } from './ask';
import { IPanes, type PaneList } from './panelist';
import { IPreferences } from './services';

/** One pane of a layout: where it goes, relative to a pane named before it or to the notebook. */
export interface ILayoutStep {
  readonly plot: string;
  readonly mode: 'split-right' | 'split-left' | 'split-top' | 'split-bottom' | 'tab-after';
  /** The plot it is placed at; '' is the notebook, or the main area when there is none. */
  readonly at: string;
}

const MODES = ['split-right', 'split-left', 'split-top', 'split-bottom', 'tab-after'] as const;

/** Task stream and progress on the right of the notebook, workers' memory and graph below them. */
const USUAL_FOUR: readonly ILayoutStep[] = [
  { plot: 'task-stream', mode: 'split-right', at: '' },
  { plot: 'workers-memory', mode: 'split-bottom', at: 'task-stream' },
  { plot: 'progress', mode: 'split-right', at: 'task-stream' },
  { plot: 'graph', mode: 'split-right', at: 'workers-memory' }
];

/** The panes of Dask's status page, as they lie there; in tabs, the task stream is in front. */
const STATUS_PAGE: readonly ILayoutStep[] = [
  { plot: 'task-stream', mode: 'split-right', at: '' },
  { plot: 'workers-memory', mode: 'split-left', at: 'task-stream' },
  { plot: 'progress', mode: 'split-bottom', at: 'task-stream' },
  { plot: 'nprocessing', mode: 'split-bottom', at: 'workers-memory' },
  { plot: 'cpu', mode: 'tab-after', at: 'nprocessing' },
  { plot: 'occupancy', mode: 'tab-after', at: 'cpu' },
  { plot: 'workers-transfer-bytes', mode: 'tab-after', at: 'occupancy' },
  { plot: 'cluster-memory', mode: 'split-top', at: 'workers-memory' }
];

/** Panes beside a notebook in a main area that is narrower would all be too small: tabs (px). */
const SPLIT_PX = 1000;

/** How long a cluster that was just made may take to reach the list (ms). */
const PATIENCE_MS = 8000;

/** Return the layout that settings hold, without the steps that cannot be; ours when none is left. */
export function layoutOf(value: unknown): readonly ILayoutStep[] {
  const steps: ILayoutStep[] = [];
  for (const given of Array.isArray(value) ? value : []) {
    const { plot, mode, at } = Object(given) as Fields; // any value has properties after Object()
    const known = MODES.find(one => one === mode);
    const reference = isText(at) ? at : '';
    const isPlaced = reference === '' || steps.some(step => step.plot === reference);
    if (isText(plot) && plot !== '' && known !== undefined && isPlaced) {
      steps.push({ plot, mode: known, at: reference });
    }
  }
  return steps.length > 0 ? steps : USUAL_FOUR;
}

export const layoutsPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.layouts,
  description: 'Opens the usual four Dask plots, or those of the status page.',
  autoStart: true,
  requires: [IPanes, IPlotServices, IPreferences],
  optional: [INotebookTracker],
  activate: (
    app: JupyterFrontEnd,
    panes: PaneList,
    services: IPlotServices,
    preferences: IPreferences,
    notebooks: INotebookTracker | null
  ): void => {
    const { trans } = services;
    const open = async (
      args: ReadonlyPartialJSONObject,
      layout: readonly ILayoutStep[]
    ): Promise<void> => {
      const front = notebooks?.currentWidget ?? null;
      const isPatient = args['isPatient'] === true || !services.dashboards.isKnown;
      const id = textArg(args, 'dashboard');
      const coming = isPatient ? await comingDashboard(services, notebooks) : undefined;
      const found = coming ?? (await askDashboard(services, id, notebooks));
      if (found !== undefined) {
        const isNarrow = app.shell.node.clientWidth < SPLIT_PX;
        openSteps(panes, isNarrow ? asTabs(layout) : layout, found, front?.id);
        if (front !== null && !front.isDisposed) {
          app.shell.activateById(front.id);
        }
      }
    };
    const describedBy = describe({
      ...DASHBOARD_ARG,
      isPatient: {
        type: 'boolean',
        description: 'Wait for the cluster of the notebook in front to reach the list.'
      }
    });
    app.commands.addCommand(CommandIDs.openLayout, {
      label: trans.__('Open the usual four'),
      caption: trans.__('Open the usual plots of a Dask cluster beside the notebook'),
      describedBy,
      execute: args => open(args, preferences.layout)
    });
    app.commands.addCommand(CommandIDs.openStatusLayout, {
      label: trans.__('Open the status page as panes'),
      caption: trans.__('Open the plots of Dask’s status page beside the notebook'),
      describedBy,
      execute: args => open(args, STATUS_PAGE)
    });
    // Late, so that an extension that brings this command of its own keeps it: a second
    // registration would throw. Its address is never contacted: the notebook in front decides.
    void app.restored.then(() => {
      if (!app.commands.hasCommand(CommandIDs.reprButton)) {
        app.commands.addCommand(CommandIDs.reprButton, {
          label: trans.__('Launch dashboard in JupyterLab'),
          describedBy: describe({ url: { type: 'string', description: 'Left out of account.' } }),
          execute: () => app.commands.execute(CommandIDs.openLayout, { isPatient: true })
        });
      }
    });
  }
};

/** The dashboard of the notebook in front, which may still be on its way. */
function comingDashboard(
  { dashboards }: IPlotServices,
  notebooks: INotebookTracker | null
): Promise<IKnownDashboard | undefined> {
  const kernel = frontKernel(notebooks);
  const isReady = ({ kernel_id: own, state, plots }: IKnownDashboard): boolean =>
    (kernel === undefined || own === kernel) && state === 'live' && plots.length > 0;
  return whenFound(dashboards, () => dashboards.all.filter(isReady).pop(), PATIENCE_MS);
}

/** The same panes behind each other; the first stays in front. */
function asTabs(layout: readonly ILayoutStep[]): readonly ILayoutStep[] {
  return layout.map((step, i) =>
    i === 0 ? step : { ...step, mode: 'tab-after', at: layout[i - 1]?.plot ?? '' }
  );
}

/** Put each pane where the layout says, also those that are open already. */
function openSteps(
  panes: PaneList,
  layout: readonly ILayoutStep[],
  { id, plots }: IKnownDashboard,
  notebook: string | undefined
): void {
  const known = layout.filter(({ plot }) => plots.some(({ name }) => name === plot));
  const opened = known.map(({ plot, mode, at }) => {
    const ref = at === '' ? notebook : (panes.find(at, id)?.id ?? notebook);
    return panes.open(plot, id, { place: { mode, ref }, isActivated: false });
  });
  // Of those behind each other the first is in front.
  known.forEach(({ mode }, i) => {
    const pane = opened[i];
    if (mode !== 'tab-after' && pane !== undefined) {
      panes.reveal(pane);
    }
  });
}
