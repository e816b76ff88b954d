/** Which dashboards list what a search finds in them; the others only tell how much it is. */

import { found } from './catalogue';
import type { IKnownDashboard } from './dashboards';

export class SearchFolds {
  /**
   * Take over what is searched for; '' ends the search, and with it what the user has folded.
   *
   * Those list what is found that are open without a search too. Where none of them has any, the
   * first that has does.
   *
   * @param all - the dashboards in the order of the list.
   * @param isOpen - whether a dashboard's plots are listed while nobody searches.
   */
  update(
    all: readonly IKnownDashboard[],
    query: string,
    isOpen: (dashboard: string) => boolean
  ): void {
    if (query === '') {
      this._choices.clear();
    }
    const finding = all.filter(one => found(one.plots, query).length > 0).map(one => one.id);
    const open = finding.filter(isOpen);
    this._open = open.length > 0 ? open : finding.slice(0, 1);
  }

  isOpen(dashboard: string): boolean {
    return this._choices.get(dashboard) ?? this._open.includes(dashboard);
  }

  toggle(dashboard: string): void {
    this._choices.set(dashboard, !this.isOpen(dashboard));
  }

  private readonly _choices = new Map<string, boolean>();
  private _open: readonly string[] = [];
}
