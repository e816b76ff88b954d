/** Whether a pane could show a cluster that its notebook made after the pane's own; pure. */

import { isOfOne, type IBinding } from './binding';
import type { IDashboards, IKnownDashboard } from './dashboards';

/** As much of the list as is asked. */
type IListed = Pick<IDashboards, 'all' | 'seen'>;

/**
 * Return the newest live cluster of the same kernel or notebook that has the plot and began after
 * the pane's own, or undefined for none, or where the pane has passed it by.
 */
export function newerOf(
  binding: IBinding,
  plot: string,
  dashboards: IListed
): IKnownDashboard | undefined {
  const newest = laterThan(binding.dashboard, dashboards)
    .filter(
      one =>
        one.kind === 'diagnostics' &&
        one.state === 'live' &&
        one.plots.some(({ name }) => name === plot) &&
        isOfOne(binding, { ...one, kernel: one.kernel_id })
    )
    .pop();
  return newest !== undefined && binding.passed?.includes(newest.id) ? undefined : newest;
}

/** Those that began after one, also where that has left the list; none where nothing is known. */
function laterThan(id: string, dashboards: IListed): readonly IKnownDashboard[] {
  const { all } = dashboards; // in the order in which they began
  const own = all.findIndex(one => one.id === id);
  if (own >= 0) {
    return all.slice(own + 1);
  }
  const began = dashboards.seen(id)?.firstSeen ?? Infinity;
  return all.filter(one => one.firstSeen > began);
}
