/** What the sidebar lists: which dashboards in which order, what is open, what is searched for. */

import { Signal, type ISignal } from '@lumino/signaling';

import type { IDashboards, IKnownDashboard } from '../api/dashboards';
import { found, OPEN_AT_FIRST } from './catalogue';

export class SidebarModel {
  /** @param _frontKernel - the kernel of the notebook in front, if any. */
  constructor(
    private readonly _dashboards: IDashboards,
    private readonly _frontKernel: () => string | undefined
  ) {}

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The user opened or closed a group: keep these choices. */
  get groupsEdited(): ISignal<this, Readonly<Record<string, boolean>>> {
    return this._groupsEdited;
  }

  get query(): string {
    return this._query;
  }

  set query(query: string) {
    this._query = query;
    this._searchFolds.clear();
    this.update();
  }

  /** Whether the pointer is in the list: nothing moves under it, so the order stays. */
  isHovered: () => boolean = () => false;

  update(): void {
    this._changed.emit();
  }

  /**
   * Return the dashboards to list: those of the notebook in front first, of one notebook the newest
   * first, closed ones last. While somebody is in the list, new ones come last.
   */
  dashboards(): readonly IKnownDashboard[] {
    const kernel = this._frontKernel();
    const rank = (one: IKnownDashboard): number =>
      Number(one.state === 'stale') * 2 + Number(kernel === undefined || one.kernel_id !== kernel);
    const newestFirst = [...this._dashboards.all].reverse();
    const sorted = newestFirst.sort((a, b) => rank(a) - rank(b)).map(({ id }) => id);
    const kept = this.isHovered() ? this._order.filter(id => sorted.includes(id)) : [];
    this._order = [...kept, ...sorted.filter(id => !kept.includes(id))];
    return this._order.flatMap(id => this._dashboards.get(id) ?? []);
  }

  /** True where a dashboard's plots are listed: as the user left it, else of the notebook in front. */
  isOpen(dashboard: IKnownDashboard): boolean {
    const { id, plots } = dashboard;
    if (this._query !== '') {
      return this._searchFolds.get(id) ?? found(plots, this._query).length > 0;
    }
    const kernel = this._frontKernel();
    const ofFront = this._dashboards.all.filter(one => one.kernel_id === kernel);
    const isFirst = this._order[0] === id;
    return this._folds.get(id) ?? (ofFront.length > 0 ? dashboard.kernel_id === kernel : isFirst);
  }

  toggle(dashboard: IKnownDashboard): void {
    const isOpen = this.isOpen(dashboard);
    (this._query === '' ? this._folds : this._searchFolds).set(dashboard.id, !isOpen);
    this.update();
  }

  isGroupOpen(group: string): boolean {
    return this._query !== '' || (this._groups[group] ?? OPEN_AT_FIRST.includes(group));
  }

  toggleGroup(group: string): void {
    if (this._query === '') {
      this._groups = { ...this._groups, [group]: !this.isGroupOpen(group) };
      this._groupsEdited.emit(this._groups);
      this.update();
    }
  }

  /** Take the choices that were stored; those made meanwhile stay. */
  restoreGroups(stored: unknown): void {
    const pairs = Object.entries(Object(stored) as object).filter(
      (pair): pair is [string, boolean] => typeof pair[1] === 'boolean'
    );
    this._groups = { ...Object.fromEntries(pairs), ...this._groups };
    this.update();
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _groupsEdited = new Signal<this, Readonly<Record<string, boolean>>>(this);
  private readonly _folds = new Map<string, boolean>();
  private readonly _searchFolds = new Map<string, boolean>();
  private _groups: Readonly<Record<string, boolean>> = {};
  private _order: readonly string[] = [];
  private _query = '';
}
