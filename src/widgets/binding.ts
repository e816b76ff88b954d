/** To which dashboard a plot is bound, and what is said of one that gives no data. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IOrigin } from '../dashboards/clusters';
import type { IKnownDashboard } from '../dashboards/dashboards';
import { clock } from '../models/units';
import { closedMessage } from '../plot/state';
import { isText } from '../protocol/control';
import type { ITranslate } from '../text';

/** What a plot remembers of its dashboard; plain JSON, survives a page reload. */
export interface IBinding extends IOrigin {
  /** What it was called. */
  readonly name: string;
}

/** Return the binding of a plot to a dashboard. */
export function bindingOf(dashboard: IKnownDashboard): IBinding {
  const { id, kind, kernel_id: kernel, notebook, shownName: name } = dashboard;
  return { dashboard: id, kind, kernel, notebook, name };
}

/** Return the binding that saved arguments hold, or null when they hold none. */
export function savedBinding(value: unknown): IBinding | null {
  const binding = Object(value) as IBinding; // as we have saved it, where there is any
  return isText(binding.dashboard) ? binding : null;
}

/** Say why a cluster gives no more data. */
export function staleMessage(
  { closed_at: closedAt, reason }: Pick<IKnownDashboard, 'closed_at' | 'reason'>,
  trans: ITranslate
): string {
  return closedAt === undefined
    ? (reason ?? trans.__('The cluster has ended.'))
    : closedMessage(closedAt * 1000, reason, trans);
}

/** Say how workers of a live cluster died, and that none are left for its tasks; '' for neither. */
export function warningOf({ state, summary }: IKnownDashboard, trans: TranslationBundle): string {
  const { total = 0, done = 0, erred = 0 } = summary?.tasks ?? {};
  const isStuck = summary?.workers === 0 && total > done + erred;
  const { text = '', time = 0 } = summary?.losses ?? {};
  const died = text && `${clock(time).slice(0, 8)} · ${text}`;
  const parts = [isStuck ? trans.__('no workers') : '', died].filter(Boolean);
  return state === 'live' ? parts.join(' · ') : '';
}

export function missingServer(trans: ITranslate): string {
  return trans.__(
    'The server part of dask_diag_lab does not answer. Install it in the environment that runs Jupyter and restart the server.'
  );
}

/** A title for a plot whose dashboard is not there to tell it. */
export function titleFromName(name: string): string {
  const spaced = name.replace(/-/g, ' ');
  return spaced.charAt(0).toLocaleUpperCase() + spaced.slice(1);
}
