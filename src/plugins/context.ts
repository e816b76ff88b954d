/** What the plugins share, and which cluster, plot or pane a command is about. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { PathExt } from '@jupyterlab/coreutils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import { Token } from '@lumino/coreutils';

import { clusterFor, clustersOf } from '../dashboards/clusters';
import { meantDashboard, type IKnownDashboard } from '../dashboards/dashboards';
import { NO_ARGUMENTS, type PlotArguments } from '../protocol/control';
import type { IPlot } from '../protocol/dashboard';
import { NAMESPACE, PANE_CLASS, PLOT_ITEM_CLASS, TAB_CLASS } from '../tokens';
import { bindingOf, type IBinding } from '../widgets/binding';
import type { Pane } from '../widgets/pane';
import type { IPlotServices } from '../widgets/services';
import { isPointed, notify, pick, textArg, type Args } from './commands';
import type { PaneManager } from './panemanager';
import type { Settings } from './settings';

/** What all plugins share. */
export interface IShared {
  readonly app: JupyterFrontEnd;
  readonly services: IPlotServices;
  readonly settings: Settings;
  readonly notebooks: INotebookTracker | null;
}

export const IShared = new Token<IShared>(
  'dask-diag-lab:IShared',
  'Settings, theme and drawing library of the plugins of dask-diag-lab.'
);

/** The same, with the panes, where these are switched on. */
export interface IContext extends IShared {
  readonly panes: PaneManager | null;
}

/** The panes, for the plugins that open some. */
export const IPanes = new Token<PaneManager>(
  'dask-diag-lab:IPanes',
  'The panes with plots of dask-diag-lab.'
);

/** Return a plugin that adds to what all share; of Lab's services each may be missing. */
export function addOn<T extends readonly unknown[]>(
  noun: string,
  description: string,
  services: { readonly [K in keyof T]: Token<T[K]> },
  activate: (context: IContext, ...found: { [K in keyof T]: T[K] | null }) => void
): JupyterFrontEndPlugin<void> {
  return {
    id: `${NAMESPACE}:${noun}`,
    description,
    autoStart: true,
    requires: [IShared],
    optional: [IPanes, ...services],
    activate: (_: JupyterFrontEnd, shared: IShared, panes: PaneManager | null, ...found) =>
      activate({ ...shared, panes }, ...(found as { [K in keyof T]: T[K] | null })) // as asked for
  };
}

/** The id of the kernel of the notebook in front. */
export function frontKernel(notebooks: INotebookTracker | null): string | undefined {
  return notebooks?.currentWidget?.sessionContext.session?.kernel?.id;
}

/** Return what the element is about at which the context menu was opened. */
export function pointedAt(
  { app }: IShared,
  args: Args,
  what: 'dashboard' | 'run'
): string | undefined {
  const node = isPointed(args)
    ? app.contextMenuHitTest(({ dataset }) => dataset[what] !== undefined)
    : undefined;
  return node?.dataset[what];
}

/** Return the dashboard that is named, or at which the context menu was opened. */
export function dashboardArg(shared: IShared, args: Args): string | undefined {
  return textArg(args, 'dashboard') ?? pointedAt(shared, args, 'dashboard');
}

/** Return the dashboard that is meant; ask when several could be, say so when there is none. */
export async function askDashboard(
  { services: { dashboards, trans }, notebooks }: IShared,
  id: string | undefined,
  among: readonly IKnownDashboard[] = dashboards.all
): Promise<IKnownDashboard | undefined> {
  const meant = meantDashboard(among, id, frontKernel(notebooks));
  if (meant === undefined && (id !== undefined || among.length === 0)) {
    notify(
      id === undefined
        ? trans.__(
            'No Dask cluster is running here. Run a cell that makes a client, such as “client = Client()”.'
          )
        : trans.__('That cluster is gone meanwhile.')
    );
    return undefined;
  }
  return meant ?? pick(trans.__('Which cluster?'), clustersOf(among), one => one.shownName);
}

/** Let the user pick a plot of the dashboard that is meant. */
export async function askPlot(
  context: IShared,
  args: Args
): Promise<readonly [IKnownDashboard, IPlot] | undefined> {
  const { trans } = context.services;
  const found = await askDashboard(context, dashboardArg(context, args));
  const title = trans.__('Which plot?');
  const plot = found && (await pick(title, found.plots, one => trans.gettext(one.title)));
  return found && plot && [found, plot];
}

/**
 * Return whether code in a notebook, which names no client, shows plots of this dashboard; where
 * that would be another cluster, say so.
 */
export function isOfNotebook(
  { services: { dashboards, trans } }: IShared,
  { context, sessionContext }: NotebookPanel,
  dashboard: string
): boolean {
  const kernel = sessionContext.session?.kernel?.id;
  const living = dashboards.all.filter(one => one.kernel_id === kernel && one.state !== 'stale');
  const own = clustersOf(living).at(-1);
  const isOwn = own?.id === dashboard && own.kind === 'diagnostics';
  if (!isOwn) {
    notify(
      trans.__(
        'A cell in %1 shows the cluster of its current client; this plot is of another one.',
        PathExt.basename(context.path)
      )
    );
  }
  return isOwn;
}

/** The binding to the cluster that the notebook in front has, or is about to have. */
export function frontBinding({ services, notebooks }: IShared): IBinding | undefined {
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
export async function askBinding(context: IShared, args: Args): Promise<IBinding | undefined> {
  const id = dashboardArg(context, args);
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

/** Return what the context menu opened at, a row, a pane or its tab; else the pane that is meant. */
export function targetOf(context: IContext, args: Args): ITarget | undefined {
  const { app, services, panes } = context;
  const kinds = [PLOT_ITEM_CLASS, PANE_CLASS, TAB_CLASS];
  const node = isPointed(args)
    ? app.contextMenuHitTest(one => kinds.some(kind => one.classList.contains(kind)))
    : panes?.meant(args)?.node;
  const ids = [node?.id, node?.dataset['id']];
  const pane = panes?.tracker.find(({ id }) => ids.includes(id)) ?? null;
  const { plot: name, dashboard: id } = (pane?.node ?? node)?.dataset ?? {};
  const dashboard = services.dashboards.get(id ?? '');
  const plot = dashboard?.plots.find(one => one.name === name);
  const given = pane?.content.arguments ?? NO_ARGUMENTS;
  return dashboard && plot && { dashboard, plot, arguments: given, pane };
}
