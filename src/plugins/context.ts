/** What all commands share: the application around them, and what they are about. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { InputDialog, Notification } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { meantDashboard, type IKnownDashboard } from '../api/dashboards';
import type { IPlot } from '../api/protocol';
import { clusterFor, clustersOf } from '../plot/clusters';
import { NO_ARGUMENTS, type PlotArguments } from '../plot/control';
import { PANE_CLASS, PLOT_ITEM_CLASS, TAB_CLASS } from '../tokens';
import type { Pane } from '../widgets/pane';
import { bindingOf, type IBinding } from '../widgets/plotwidget';
import type { IPlotServices } from '../widgets/services';
import type { PaneList } from './panelist';
import type { Preferences } from './services';

export interface IContext {
  readonly app: JupyterFrontEnd;
  readonly services: IPlotServices;
  readonly preferences: Preferences;
  readonly panes: PaneList;
  readonly notebooks: INotebookTracker | null;
}

export type Args = ReadonlyPartialJSONObject;

/** Return a text argument, undefined when it is missing, empty or no text. */
export function textArg(args: Args, name: string): string | undefined {
  const value = args[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The id of the kernel of the notebook in front. */
export function frontKernel(notebooks: INotebookTracker | null): string | undefined {
  return notebooks?.currentWidget?.sessionContext.session?.kernel?.id;
}

/** Say something that needs no answer. */
export function notify(message: string): void {
  Notification.info(message, { autoClose: 6000 });
}

/** Whether a dashboard has pages for browser tabs, and say so where not. */
export function hasPages(
  { trans }: IPlotServices,
  { channel, shownName }: IKnownDashboard
): boolean {
  if (channel !== undefined) {
    const message =
      '%1 is reached through the messages of its kernel only: its plots open in panes.';
    notify(trans.__(message, shownName));
  }
  return channel === undefined;
}

/** Let the user pick one of several; undefined when none was picked. */
export async function pick<T>(
  title: string,
  items: readonly T[],
  label: (item: T) => string
): Promise<T | undefined> {
  const labels = items.map(label);
  const { value } = await InputDialog.getItem({ title, items: labels });
  return value === null ? undefined : items[labels.indexOf(value)];
}

/** Return the dashboard that is meant; ask when several could be, say so when there is none. */
export async function askDashboard(
  { services: { dashboards, trans }, notebooks }: IContext,
  id: string | undefined,
  among: readonly IKnownDashboard[] = dashboards.all
): Promise<IKnownDashboard | undefined> {
  const meant = meantDashboard(among, id, frontKernel(notebooks));
  if (meant === undefined && (id !== undefined || among.length === 0)) {
    const how =
      'No Dask cluster is running here. Run a cell that makes a client, such as “client = Client()”.';
    notify(trans.__(id === undefined ? how : 'That cluster is gone meanwhile.'));
    return undefined;
  }
  return meant ?? pick(trans.__('Which cluster?'), clustersOf(among), one => one.shownName);
}

/** Let the user pick a plot of the dashboard that is meant. */
export async function askPlot(
  context: IContext,
  id: string | undefined
): Promise<readonly [IKnownDashboard, IPlot] | undefined> {
  const { trans } = context.services;
  const found = await askDashboard(context, id);
  const title = trans.__('Which plot?');
  const plot = found && (await pick(title, found.plots, one => trans.__(one.title)));
  return found && plot && [found, plot];
}

/** The binding to the cluster that the notebook in front has, or is about to have. */
export function frontBinding({ services, notebooks }: IContext): IBinding | undefined {
  const kernel = frontKernel(notebooks);
  const notebook = notebooks?.currentWidget?.context.path;
  if (kernel === undefined || notebook === undefined) {
    return undefined;
  }
  const { all } = services.dashboards;
  const ahead = { dashboard: '', kernel, notebook, name: PathExt.basename(notebook) };
  const own = clusterFor(ahead, all) ?? clusterFor({ ...ahead, kind: 'stock' }, all);
  return own ? bindingOf(own) : ahead;
}

/** The binding to the dashboard that is meant; while none runs, to the one that is to come. */
export async function askBinding(
  context: IContext,
  id: string | undefined
): Promise<IBinding | undefined> {
  const kernel = frontKernel(context.notebooks);
  const { all } = context.services.dashboards;
  const isThere = all.some(one => one.state !== 'stale' || one.kernel_id === kernel);
  const ahead = id === undefined && !isThere ? frontBinding(context) : undefined;
  const found = ahead ? undefined : await askDashboard(context, id);
  return found ? bindingOf(found) : ahead;
}

/** A plot that a command is about, with the pane that shows it, if any. */
export interface ITarget {
  readonly dashboard: IKnownDashboard;
  readonly plot: IPlot;
  readonly arguments: PlotArguments;
  readonly pane: Pane | null;
}

/** Return what the context menu opened at, a row, a pane or its tab; else the pane in front. */
export function targetOf({ app, services, panes }: IContext, args: Args): ITarget | undefined {
  const kinds = [PLOT_ITEM_CLASS, PANE_CLASS, TAB_CLASS];
  const node =
    args['isPointed'] === true
      ? app.contextMenuHitTest(one => kinds.some(kind => one.classList.contains(kind)))
      : panes.current?.node;
  const ids = [node?.id, node?.dataset['id']];
  const pane = panes.tracker.find(({ id }) => ids.includes(id)) ?? null;
  const { plot: name, dashboard: id } = (pane?.node ?? node)?.dataset ?? {};
  const dashboard = services.dashboards.get(id ?? '');
  const plot = dashboard?.plots.find(one => one.name === name);
  const given = pane?.content.arguments ?? NO_ARGUMENTS;
  return dashboard && plot && { dashboard, plot, arguments: given, pane };
}
