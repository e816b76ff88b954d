/** Asking the user which plot or dashboard is meant, and telling them why something cannot be. */

import { InputDialog, Notification } from '@jupyterlab/apputils';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';

import { meantDashboard } from '../model/choice';
import type { IDashboards, IKnownDashboard } from '../model/dashboards';
import { inFrontOf } from '../widgets/tabfront';

/**
 * Return the notebook in front: the one used last, also while something else has the focus or lies
 * over it. Where that is another notebook, it is the latter: after a reload nobody has used one
 * yet, and the last one that came back counts as used.
 */
export function frontNotebook(notebooks: INotebookTracker | null): NotebookPanel | null {
  const last = notebooks?.currentWidget ?? null;
  if (last === null || last.isVisible) {
    return last;
  }
  const cover = inFrontOf(last);
  return notebooks?.find(one => one === cover) ?? last;
}

/** The id of the kernel of the notebook in front. */
export function frontKernel(notebooks: INotebookTracker | null): string | undefined {
  return frontNotebook(notebooks)?.sessionContext.session?.kernel?.id;
}

/** Return the dashboard that is meant; ask when several could be, tell when there is none. */
export async function askDashboard(
  dashboards: Pick<IDashboards, 'all' | 'get'>,
  trans: TranslationBundle,
  id: string | undefined,
  kernel: string | undefined
): Promise<IKnownDashboard | undefined> {
  const meant = meantDashboard(dashboards.all, id, kernel);
  if (meant !== undefined) {
    return meant;
  }
  if (dashboards.all.length === 0) {
    tellNoDashboard(trans);
    return undefined;
  }
  if (id !== undefined) {
    tell(trans.__('That cluster is gone meanwhile.'));
    return undefined;
  }
  const asked = dashboards.all; // it is another list once the user has picked
  const names = asked.map(one => one.shownName);
  const { value } = await InputDialog.getItem({
    title: trans.__('Which cluster?'),
    items: names
  });
  const picked = value === null ? undefined : asked[names.indexOf(value)];
  if (picked === undefined) {
    return undefined;
  }
  const found = dashboards.get(picked.id);
  if (found === undefined) {
    tell(trans.__('The cluster of %1 is gone meanwhile.', picked.shownName));
  }
  return found;
}

/** Return the name of a plot of a dashboard that the user picks. */
export async function askPlot(
  dashboard: IKnownDashboard,
  trans: TranslationBundle
): Promise<string | undefined> {
  const titles = dashboard.plots.map(plot => plot.title);
  const { value } = await InputDialog.getItem({
    title: trans.__('Which plot of %1?', dashboard.shownName),
    items: titles
  });
  return value === null ? undefined : dashboard.plots[titles.indexOf(value)]?.name;
}

function tellNoDashboard(trans: TranslationBundle): void {
  tell(
    trans.__(
      'No Dask cluster is running here. Run a cell that makes a client, such as “client = Client()”.'
    )
  );
}

/** Say something that needs no answer. */
export function tell(words: string): void {
  Notification.info(words, { autoClose: 6000 });
}

/** Wait until a dashboard is found, at most so long; undefined when none was. */
export function whenFound<T>(
  dashboards: IDashboards,
  find: () => T | undefined,
  timeoutMs: number
): Promise<T | undefined> {
  const now = find();
  if (now !== undefined) {
    return Promise.resolve(now);
  }
  return new Promise(resolve => {
    const end = (found: T | undefined): void => {
      clearTimeout(timer);
      dashboards.changed.disconnect(look);
      resolve(found);
    };
    const look = (): void => {
      const found = find();
      if (found !== undefined) {
        end(found);
      }
    };
    const timer = setTimeout(() => end(undefined), timeoutMs);
    dashboards.changed.connect(look);
  });
}
