/** Whether a pane could show a cluster that its notebook made after the pane's own; pure. */

import { isOfOne, type IBinding } from './binding';
import type { IKnownDashboard } from './dashboards';

/**
 * Return the newest live cluster of the same kernel or notebook that has the plot and began after
 * the pane's own, or undefined for none.
 *
 * A pane whose own cluster is not listed any more may show any of them.
 *
 * @param all - in the order in which they began.
 */
export function newerOf(
  binding: IBinding,
  plot: string,
  all: readonly IKnownDashboard[]
): IKnownDashboard | undefined {
  const own = all.findIndex(one => one.id === binding.dashboard);
  const later = binding.dashboard === '' ? [] : all.slice(own + 1);
  return later
    .filter(
      one =>
        one.kind === 'diagnostics' &&
        one.state === 'live' &&
        one.plots.some(({ name }) => name === plot) &&
        isOfOne(binding, { ...one, kernel: one.kernel_id })
    )
    .pop();
}
