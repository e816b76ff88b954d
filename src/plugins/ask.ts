/** Which dashboard and plot a command is about; asked for where several could be meant. */

import { InputDialog, Notification } from '@jupyterlab/apputils';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyJSONObject, ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { meantDashboard, type IDashboards, type IKnownDashboard } from '../api/dashboards';
import type { IPlotServices } from '../widgets/services';

type Properties = Readonly<Record<string, ReadonlyJSONObject>>;

/** Return the `describedBy` of a command with these optional arguments. */
export function describe(properties: Properties = {}): Partial<CommandRegistry.Description> {
  return { args: { type: 'object', properties: { ...properties } } };
}

export const PLOT_ARG = {
  plot: {
    type: 'string',
    description: 'Name of a plot, such as task-stream; asked for when left out.'
  }
};
export const DASHBOARD_ARG = {
  dashboard: {
    type: 'string',
    description: 'Id of a dashboard; that of the notebook in front when left out.'
  }
};
/** In context menus: what the pointer was at when the menu opened. */
export const POINTED_ARG = {
  isPointed: { type: 'boolean', description: 'Of a context menu: about what it opened at.' }
};

/** Return a text argument, undefined when it is missing, empty or no text. */
export function textArg(args: ReadonlyPartialJSONObject, name: string): string | undefined {
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

/** Return the dashboard that is meant; ask when several could be, say so when there is none. */
export async function askDashboard(
  { dashboards, trans }: Pick<IPlotServices, 'dashboards' | 'trans'>,
  id: string | undefined,
  notebooks: INotebookTracker | null,
  among: readonly IKnownDashboard[] = dashboards.all
): Promise<IKnownDashboard | undefined> {
  const meant = meantDashboard(among, id, frontKernel(notebooks));
  if (meant !== undefined) {
    return meant;
  }
  if (among.length === 0) {
    const how =
      'No Dask cluster is running here. Run a cell that makes a client, such as “client = Client()”.';
    notify(trans.__(how));
    return undefined;
  }
  if (id !== undefined) {
    notify(trans.__('That cluster is gone meanwhile.'));
    return undefined;
  }
  const picked = await pick(trans.__('Which cluster?'), among, one => one.shownName);
  return picked && dashboards.get(picked.id);
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

/** Wait until a dashboard is found, at most so long; undefined when none was. */
export function whenFound<T>(
  dashboards: IDashboards,
  find: () => T | undefined,
  timeoutMs: number
): Promise<T | undefined> {
  return new Promise(resolve => {
    const look = (isLate = false): void => {
      const found = find();
      if (found !== undefined || isLate) {
        clearTimeout(timer);
        dashboards.changed.disconnect(onChanged);
        resolve(found);
      }
    };
    const onChanged = (): void => look();
    const timer = setTimeout(() => look(true), timeoutMs);
    dashboards.changed.connect(onChanged);
    look();
  });
}
