/** Which dashboard a command means when it is not told; pure. */

import type { IKnownDashboard } from './dashboards';

/**
 * Return the dashboard that is meant, or undefined when several or none could be.
 *
 * @param id - the one that was named, if any; it is never replaced by another.
 * @param kernel - the kernel of the notebook in front, if any.
 */
export function meantDashboard(
  all: readonly IKnownDashboard[],
  id: string | undefined,
  kernel: string | undefined
): IKnownDashboard | undefined {
  if (id !== undefined) {
    return all.find(one => one.id === id);
  }
  const ofKernel = all.filter(one => kernel !== undefined && one.kernel_id === kernel);
  const newest = ofKernel.filter(isUsable).pop() ?? ofKernel.pop();
  if (newest !== undefined) {
    return newest;
  }
  const usable = all.filter(isUsable);
  const only = usable.length === 1 ? usable[0] : undefined;
  return only ?? (all.length === 1 ? all[0] : undefined);
}

function isUsable(dashboard: IKnownDashboard): boolean {
  return dashboard.state !== 'stale';
}
