/** To which dashboard a plot is bound, and what is said of one that gives no data. */

import type { IOrigin, Peer } from '../dashboards/clusters';
import type { IKnownDashboard } from '../dashboards/dashboards';
import { closedMessage } from '../plot/state';
import { isText, type Fields } from '../protocol/control';
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
  // Any object has string keys.
  const { dashboard, kind, kernel, notebook, name, peers } = Object(value) as Fields;
  const text = (given: unknown): string | null => (isText(given) ? given : null);
  return isText(dashboard)
    ? {
        dashboard,
        kind: kind === 'stock' ? kind : 'diagnostics',
        kernel: text(kernel),
        notebook: text(notebook),
        name: text(name) ?? '',
        ...(Array.isArray(peers) && { peers: peers.filter(isPeer) })
      }
    : null;
}

function isPeer(value: unknown): value is Peer {
  const { id, name } = Object(value) as Fields;
  return isText(id) && isText(name);
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
