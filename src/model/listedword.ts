/** Word of which dashboards are listed, kept in the browser for its other tabs (`badge.js`). */

import type { IDashboards } from './dashboards';
import type { IStorage } from './storage';

export class ListedWord {
  /**
   * @param _storage - where it is kept; null for nowhere.
   * @param _key - names it there.
   */
  constructor(
    private readonly _storage: IStorage | null,
    private readonly _key: string
  ) {}

  /** Write which dashboards there are, where others are there than before. */
  tell({ all, isKnown }: IDashboards): void {
    const word = JSON.stringify(all.map(({ id }) => id));
    if (!isKnown || word === this._told) {
      return;
    }
    this._told = word;
    try {
      this._storage?.setItem(this._key, word);
    } catch (reason) {
      console.warn('dask-diag-lab: browser tabs are not told of clusters.', reason);
    }
  }

  private _told = '';
}
