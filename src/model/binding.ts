/** Which dashboard a pane belongs to, and which one takes it over when that one is gone. */

import { isText } from '../wire';
import type { IKnownDashboard } from './dashboards';

/** What a pane remembers of its dashboard; plain JSON, survives a page reload. */
export interface IBinding {
  readonly dashboard: string;
  readonly kernel: string | null;
  readonly notebook: string | null;
  readonly scheduler: string;
  readonly name: string;
  /** Kin that was seen live at the same time: other clusters, no successors. */
  readonly beside: readonly string[];
  /**
   * Kin that is not offered as newer: it was there when the pane came to its dashboard, or the user
   * has refused it. Left out until the dashboard was listed.
   */
  readonly passed?: readonly string[];
}

/** That of a pane whose dashboard is not known. */
export const NO_BINDING: IBinding = {
  dashboard: '',
  kernel: null,
  notebook: null,
  scheduler: '',
  name: '',
  beside: []
};

/** What a page saw of a binding's dashboard; empty right after a reload. */
export interface ISeen {
  readonly firstSeen: number;
  readonly lastLive: number;
}

/** A new cluster may appear this long before the one it replaces is seen to go (ms). */
const OVERLAP_MS = 60_000;

/** How many clusters beside its own a pane remembers, of each sort. */
const REMEMBERED = 20;

/** Return the binding of a pane to a dashboard. */
export function bindingOf(dashboard: IKnownDashboard): IBinding {
  return {
    dashboard: dashboard.id,
    kernel: dashboard.kernel_id,
    notebook: dashboard.notebook,
    scheduler: dashboard.scheduler.id,
    name: dashboard.shownName,
    beside: []
  };
}

/** Return the binding of a pane that shows a dashboard now, from the one it had before. */
export function boundTo(
  dashboard: IKnownDashboard,
  last: IBinding,
  all: readonly IKnownDashboard[]
): IBinding {
  const fresh = bindingOf(dashboard);
  // Right after a reload Jupyter's sessions, and with them the notebook, are not known yet.
  const bound = { ...fresh, notebook: fresh.notebook ?? last.notebook };
  const isSame = last.dashboard === dashboard.id;
  const kin = all.filter(one => one.id !== dashboard.id && isKin(bound, one));
  const now = dashboard.state === 'live' ? kin.filter(one => one.state === 'live') : [];
  const known = isSame ? last.passed : undefined;
  return {
    ...bound,
    beside: joined(isSame ? last.beside : [], now.map(idOf)),
    passed: known ?? joined([], kin.filter(one => one.state !== 'stale').map(idOf))
  };
}

/** Return the binding of a pane whose user does not want a newer cluster. */
export function passing(binding: IBinding, newer: string): IBinding {
  return { ...binding, passed: joined(binding.passed ?? [], [newer]) };
}

function joined(before: readonly string[], ids: readonly string[]): readonly string[] {
  return [...new Set([...before, ...ids])].slice(-REMEMBERED);
}

function idOf({ id }: IKnownDashboard): string {
  return id;
}

/** Who else there is where several wait for successors. */
export interface IRivals {
  /** The successors of others. */
  readonly taken: ReadonlySet<string>;
  /** How many wait whose turn is later. */
  readonly after: number;
}

const NO_RIVALS: IRivals = { taken: new Set(), after: 0 };

/**
 * Return the dashboard that takes over from one that has ended, or undefined for none.
 *
 * A successor is live, of the same kernel or notebook, and came after the pane's own dashboard;
 * a second cluster that ran beside it all the time does not take its panes. What this page did
 * not see itself it knows from before the reload, by the binding.
 *
 * @param seen - what this page saw of the own dashboard; undefined when it never did.
 */
export function heirOf(
  binding: IBinding,
  seen: ISeen | undefined,
  all: readonly IKnownDashboard[],
  { taken, after }: IRivals = NO_RIVALS
): IKnownDashboard | undefined {
  const successors = all.filter(
    one =>
      one.id !== binding.dashboard &&
      one.state === 'live' &&
      isKin(binding, one) &&
      isLater(one, seen, binding)
  );
  const sameScheduler = successors.find(
    one => binding.scheduler !== '' && one.scheduler.id === binding.scheduler
  );
  const free = successors.filter(one => !taken.has(one.id));
  return sameScheduler ?? free[Math.max(0, free.length - 1 - after)];
}

/** True for two of the same kernel or notebook. */
export function isOfOne(
  one: Pick<IBinding, 'kernel' | 'notebook'>,
  other: Pick<IBinding, 'kernel' | 'notebook'>
): boolean {
  const sameKernel = one.kernel !== null && one.kernel === other.kernel;
  return sameKernel || (one.notebook !== null && one.notebook === other.notebook);
}

function isKin(binding: IBinding, other: IKnownDashboard): boolean {
  const sameScheduler = binding.scheduler !== '' && binding.scheduler === other.scheduler.id;
  return sameScheduler || isOfOne(binding, { ...other, kernel: other.kernel_id });
}

function isLater(other: IKnownDashboard, seen: ISeen | undefined, { beside }: IBinding): boolean {
  if (seen === undefined) {
    return !beside.includes(other.id);
  }
  return other.firstSeen > seen.firstSeen && other.firstSeen >= seen.lastLive - OVERLAP_MS;
}

/** How long a cluster that was just made may take to reach the list (ms). */
export const LISTING_MS = 3000;

/** True for a pane that was opened ahead of its cluster, for as long as that may take. */
export function isAwaited({ dashboard }: IBinding, openedAt: number): boolean {
  return dashboard === '' && Date.now() - openedAt < LISTING_MS;
}

/** Return the binding that a pane's saved arguments hold, or null when they hold none. */
export function savedBinding(value: unknown): IBinding | null {
  if (typeof value !== 'object' || value === null) {
    return null;
  }
  const fields = value as Record<string, unknown>; // any object has string keys
  const text = (key: string): string | null => {
    const given = fields[key];
    return isText(given) ? given : null;
  };
  const dashboard = text('dashboard');
  if (dashboard === null) {
    return null;
  }
  return {
    dashboard,
    kernel: text('kernel'),
    notebook: text('notebook'),
    scheduler: text('scheduler') ?? '',
    name: text('name') ?? '',
    beside: textsOf(fields['beside']),
    ...('passed' in fields ? { passed: textsOf(fields['passed']) } : {})
  };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(isText).slice(-REMEMBERED) : [];
}
