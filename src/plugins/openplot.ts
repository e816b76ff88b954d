/** The command that opens a plot: named or asked for, of a cluster that is there or just coming. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { Notification } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { LISTING_MS, NO_BINDING, savedBinding, type IBinding } from '../model/binding';
import { titleFromName } from '../model/catalogue';
import type { IKnownDashboard } from '../model/dashboards';
import { CommandIDs } from '../tokens';
import type { Pane } from '../widgets/pane';
import type { IPlotServices } from '../widgets/services';
import { argumentsOf } from '../wire';
import { ARGUMENTS_ARG, DASHBOARD_ARG, describe, PLOT_ARG, textArg } from './args';
import { askDashboard, askPlot, frontKernel, frontNotebook, whenFound } from './ask';
import type { IOpenOptions } from './ipanes';
import type { PaneList } from './panelist';

/** How long the notebook's own cluster is waited for where there is another one (ms). */
const SOON_MS = 1000;

/** Register the command. */
export function addOpenCommand(
  app: JupyterFrontEnd,
  services: IPlotServices,
  panes: PaneList,
  notebooks: INotebookTracker | null
): void {
  const { dashboards, trans } = services;
  app.commands.addCommand(CommandIDs.openPlot, {
    label: args => {
      const plot = textArg(args, 'plot');
      const known = dashboards.all.flatMap(one => one.plots).find(one => one.name === plot);
      return plot === undefined ? trans.__('Open a plot…') : (known?.title ?? titleFromName(plot));
    },
    caption: trans.__('Open a live plot of a Dask cluster'),
    describedBy: describe({ ...PLOT_ARG, ...DASHBOARD_ARG, ...ARGUMENTS_ARG }),
    execute: async args => {
      const restored = restoredPane(panes, args);
      if (restored !== null) {
        return restored;
      }
      const given = 'arguments' in args ? { arguments: argumentsOf(args['arguments']) } : {};
      const ahead = openedAhead(services, panes, notebooks, args, given);
      if (ahead !== null) {
        return ahead;
      }
      const dashboard = await foundDashboard(services, notebooks, textArg(args, 'dashboard'));
      const plot = textArg(args, 'plot') ?? (dashboard && (await askPlot(dashboard, trans)));
      if (dashboard === undefined || plot === undefined) {
        return null;
      }
      return panes.open(plot, dashboard.id, given);
    }
  });
}

/** A pane from before a reload: it comes back also while its dashboard is not there. */
function restoredPane(panes: PaneList, args: ReadonlyPartialJSONObject): Pane | null {
  const plot = textArg(args, 'plot');
  const key = textArg(args, 'key');
  const binding = savedBinding(args['binding']);
  if (plot === undefined || key === undefined || binding === null) {
    return null;
  }
  const given = argumentsOf(args['arguments']);
  const pane = panes.tracker.find(one => one.key === key) ?? panes.make(plot, binding, key, given);
  if (!pane.isAttached) {
    panes.show(pane, {});
  }
  return pane;
}

/** While none runs that could be meant: a pane that waits for that of the notebook in front. */
function openedAhead(
  { dashboards }: IPlotServices,
  panes: PaneList,
  notebooks: INotebookTracker | null,
  args: ReadonlyPartialJSONObject,
  options: IOpenOptions
): Pane | null {
  const plot = textArg(args, 'plot');
  const binding = bindingAhead(notebooks);
  const isNamed = textArg(args, 'dashboard') !== undefined;
  const isThere = dashboards.all.some(
    one => one.state !== 'stale' || one.kernel_id === binding?.kernel
  );
  if (plot === undefined || binding === null || isNamed || isThere) {
    return null;
  }
  return panes.openAhead(plot, binding, options);
}

/** The binding to a cluster that the notebook in front is about to have. */
function bindingAhead(notebooks: INotebookTracker | null): IBinding | null {
  const kernel = frontKernel(notebooks);
  const path = frontNotebook(notebooks)?.context.path;
  if (kernel === undefined || path === undefined) {
    return null;
  }
  return { ...NO_BINDING, kernel, notebook: path, name: PathExt.basename(path) };
}

/** Return the dashboard that is meant; wait a moment for the one that was asked for. */
async function foundDashboard(
  { dashboards, trans }: IPlotServices,
  notebooks: INotebookTracker | null,
  id: string | undefined
): Promise<IKnownDashboard | undefined> {
  const kernel = frontKernel(notebooks);
  const isAsked = (one: IKnownDashboard): boolean =>
    id !== undefined ? one.id === id : kernel === undefined || one.kernel_id === kernel;
  const find = (): IKnownDashboard | undefined => dashboards.all.find(isAsked);
  if (id === undefined && dashboards.all.length > 0) {
    await whenFound(dashboards, find, SOON_MS);
  } else if (find() === undefined) {
    const told = Notification.info(trans.__('Waiting for a Dask cluster…'), { autoClose: false });
    await whenFound(dashboards, find, LISTING_MS);
    Notification.dismiss(told);
  }
  return askDashboard(dashboards, trans, id, kernel);
}
