/** The plugin of layouts: several panes in one go, beside the notebook, which keeps the focus. */

import { tabIcon } from '@jupyterlab/ui-components';
import { MessageLoop } from '@lumino/messaging';

import { CommandIDs } from '../tokens';
import type { IBinding } from '../widgets/binding';
import { diagIcon } from '../widgets/icons';
import { describedBy, type Args } from './commands';
import { addOn, askBinding, frontBinding, type IShared } from './context';
import type { PaneManager } from './panemanager';
import type { ILayoutStep } from './settings';

/** Task stream and progress on the right of the notebook, workers' memory and graph below them. */
const USUAL_FOUR: readonly ILayoutStep[] = [
  { plot: 'task-stream', mode: 'split-right' },
  { plot: 'workers-memory', mode: 'split-bottom', at: 'task-stream' },
  { plot: 'progress', mode: 'split-right', at: 'task-stream' },
  { plot: 'graph', mode: 'split-right', at: 'workers-memory' }
];

/** The panes of Dask's status page, as they lie there; two tabs in a place, so that both have a title. */
const STATUS_PAGE: readonly ILayoutStep[] = [
  { plot: 'task-stream', mode: 'split-right' },
  { plot: 'workers-memory', mode: 'split-left', at: 'task-stream' },
  { plot: 'progress', mode: 'split-bottom', at: 'task-stream' },
  { plot: 'nprocessing', mode: 'split-bottom', at: 'workers-memory' },
  { plot: 'cpu', mode: 'tab-after', at: 'nprocessing' },
  { plot: 'cluster-memory', mode: 'split-top', at: 'workers-memory' },
  { plot: 'occupancy', mode: 'tab-after', at: 'workers-memory' },
  { plot: 'workers-transfer-bytes', mode: 'tab-after', at: 'cluster-memory' }
];

/** A place that is narrower has no room for two columns of plots: tabs (px). */
const SPLIT_PX = 400;

export const layoutsPlugin = addOn(
  'layouts',
  'Opens several plots of a Dask cluster in one go.',
  [],
  context => {
    const { app, panes, settings } = context;
    const { trans } = context.services;
    if (panes === null) {
      return;
    }
    const open = async (steps: readonly ILayoutStep[], args: Args): Promise<void> =>
      openSteps(context, panes, steps, await askBinding(context, args));
    const usual = (): readonly ILayoutStep[] =>
      settings.layout.length > 0 ? settings.layout : USUAL_FOUR;
    app.commands.addCommand(CommandIDs.openLayout, {
      label: trans.__('Open the usual four'),
      caption: trans.__('Open the usual plots of a Dask cluster beside the notebook'),
      icon: diagIcon,
      describedBy: describedBy('dashboard', 'isPointed'),
      execute: args => open(usual(), args)
    });
    app.commands.addCommand(CommandIDs.openStatusLayout, {
      label: trans.__('Open the status page as panes'),
      caption: trans.__('Open the plots of Dask’s status page beside the notebook'),
      icon: tabIcon,
      describedBy: describedBy('dashboard', 'isPointed'),
      execute: args => open(STATUS_PAGE, args)
    });
    // Late, so that an extension that brings this command of its own keeps it: a second registration
    // would throw. Its address is never contacted: the cluster of the notebook in front is meant, which
    // may still be on its way.
    void app.restored.then(() => {
      if (!app.commands.hasCommand(CommandIDs.reprButton)) {
        app.commands.addCommand(CommandIDs.reprButton, {
          label: trans.__('Launch dashboard in JupyterLab'),
          icon: diagIcon,
          describedBy: describedBy(),
          execute: () => {
            const binding = frontBinding(context);
            return binding ? openSteps(context, panes, usual(), binding) : open(usual(), {});
          }
        });
      }
    });
  }
);

/**
 * Open the panes of a layout: the first one beside the notebook, or where other plots are already,
 * and the others around it; where that is too narrow, in two places one below the other, so that tabs have titles.
 * Those that another cluster, or another recording, has in view already come in front of that one's.
 */
function openSteps(
  { app, services, notebooks }: IShared,
  panes: PaneManager,
  layout: readonly ILayoutStep[],
  binding: IBinding | undefined
): void {
  const { plots = [] } = services.dashboards.get(binding?.dashboard ?? '') ?? {};
  const isKnown = (plot: string): boolean => plots.some(({ name }) => name === plot);
  const [step, ...others] = layout.filter(({ plot }) => plots.length === 0 || isKnown(plot));
  if (binding === undefined || step === undefined) {
    return;
  }
  const notebook = notebooks?.currentWidget?.id;
  const usual = panes.tracker.size > 0 ? undefined : { mode: step.mode, ref: notebook };
  const place = panes.placeInFront(step.plot, binding) ?? usual;
  const first = panes.open(step.plot, binding, { place });
  MessageLoop.flush(); // gives it the size that it has from now on
  const isNarrow = first.node.clientWidth < SPLIT_PX;
  const ids = new Map([[step.plot, first.id]]);
  const inView = panes.tracker.filter(pane => pane === first || pane.isVisible);
  const shown = inView.map(({ id }) => id);
  for (const { plot, mode, at = '' } of others) {
    const isInView = panes.find(plot, binding)?.isVisible;
    const stacked = shown.length < 2 ? 'split-bottom' : 'tab-after';
    const behind = { mode: stacked, ref: shown[ids.size % shown.length] } as const;
    const beside = { mode, ref: ids.get(at) ?? notebook };
    const inFront = panes.placeInFront(plot, binding);
    const place = inFront ?? (isNarrow ? (isInView ? undefined : behind) : beside);
    const { id } = panes.open(plot, binding, { place, isActivated: inFront !== undefined });
    ids.set(plot, id);
    if (shown.length < 2) {
      shown.push(id);
    }
  }
  app.shell.activateById(notebook ?? first.id);
}
