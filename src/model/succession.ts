/** Which new cluster takes over the pictures of which old one, for all pictures of a page. */

import { boundTo, heirOf, isOfOne, type IBinding } from './binding';
import type { IDashboards, IKnownDashboard } from './dashboards';

/** A picture, which belongs to a dashboard. */
export interface IMember {
  readonly binding: IBinding;
}

/**
 * One new cluster takes over the pictures of one old one of its notebook, of several that ended
 * those of the one that began first; the others wait for the next new cluster.
 */
export class Succession {
  constructor(private readonly _dashboards: IDashboards) {}

  join(member: IMember): void {
    this._members.add(member);
  }

  leave(member: IMember): void {
    this._members.delete(member);
  }

  /** Return the dashboard that a picture shows now: its own, the heir, or undefined for none. */
  dashboardFor(binding: IBinding): IKnownDashboard | undefined {
    const own = this._dashboards.get(binding.dashboard);
    if (own !== undefined && own.state !== 'stale') {
      return own;
    }
    if (binding.dashboard === '') {
      return heirOf(binding, undefined, this._dashboards.all) ?? own;
    }
    this._settle();
    return this._heir(binding.dashboard) ?? own;
  }

  /** Return a picture's binding with what it has to know after a reload. */
  rebound(last: IBinding, shown: IKnownDashboard | undefined): IBinding {
    const { all } = this._dashboards;
    const bound = shown === undefined ? last : boundTo(shown, last, all);
    const isWaiting = bound.dashboard === last.dashboard && shown?.state !== 'live';
    const taken = isWaiting ? this._takenFrom(bound) : [];
    return taken.length === 0 ? bound : { ...bound, beside: [...bound.beside, ...taken] };
  }

  /** Give each that waits its heir, where there is one for it. */
  private _settle(): void {
    const waiting = this._waiting();
    waiting.forEach((binding, i) => {
      const { dashboard } = binding;
      const after = waiting.slice(i + 1).filter(other => isOfOne(binding, other)).length;
      const free = { taken: this._takenBeside(dashboard), after };
      const seen = this._dashboards.seen(dashboard);
      const heir = heirOf(binding, seen, this._dashboards.all, free);
      if (heir !== undefined) {
        this._heirs.set(dashboard, heir.id);
        this._began.set(heir.id, this._beganAt(dashboard));
      }
    });
  }

  /** One binding of each dashboard that ended and has no heir, in the order they began. */
  private _waiting(): readonly IBinding[] {
    const found = new Map<string, IBinding>();
    for (const { binding } of this._members) {
      const { dashboard } = binding;
      const state = this._dashboards.get(dashboard)?.state ?? 'stale';
      if (dashboard !== '' && state === 'stale' && this._heir(dashboard) === undefined) {
        found.set(dashboard, found.get(dashboard) ?? binding);
      }
    }
    const began = ({ dashboard }: IBinding): number => this._beganAt(dashboard);
    return [...found.values()].sort((a, b) => began(a) - began(b));
  }

  private _heir(dashboard: string): IKnownDashboard | undefined {
    const heir = this._dashboards.get(this._heirs.get(dashboard) ?? '');
    return heir?.state === 'stale' ? undefined : heir;
  }

  /** An heir stands where its predecessor stood; one from before a reload stands last. */
  private _beganAt(dashboard: string): number {
    const firstSeen = this._dashboards.seen(dashboard)?.firstSeen ?? Number.MAX_SAFE_INTEGER;
    return this._began.get(dashboard) ?? firstSeen;
  }

  private _takenBeside(dashboard: string): ReadonlySet<string> {
    const others = [...this._heirs].filter(([own]) => own !== dashboard);
    return new Set(others.map(([, heir]) => heir));
  }

  /** The heirs of others that would be this one's after a reload, when nobody knows any more. */
  private _takenFrom(binding: IBinding): readonly string[] {
    const taken = this._takenBeside(binding.dashboard);
    return this._dashboards.all
      .filter(one => taken.has(one.id) && isOfOne(binding, { ...one, kernel: one.kernel_id }))
      .map(one => one.id)
      .filter(id => !binding.beside.includes(id));
  }

  private readonly _members = new Set<IMember>();
  /** The heir of each dashboard that ended. */
  private readonly _heirs = new Map<string, string>();
  private readonly _began = new Map<string, number>();
}
