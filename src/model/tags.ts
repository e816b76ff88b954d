/** Which colour tag each dashboard wears, kept in the browser so that a reload changes none. */

import type { IStorage } from './storage';

/** How many dashboards are remembered; a browser sees many clusters in its life. */
const REMEMBERED = 100;

export class Tags {
  /**
   * @param _storage - where tags are kept; null for nowhere.
   * @param _key - names them there.
   */
  constructor(
    private readonly _storage: IStorage | null,
    private readonly _key: string
  ) {
    this._tags = new Map(this._read());
  }

  /** Return a dashboard's tag: the one it had, or the lowest, that no other of those listed wears. */
  of(id: string, listed: readonly string[]): number {
    const worn = new Set(listed.filter(other => other !== id).map(other => this._tags.get(other)));
    const known = this._tags.get(id);
    if (known !== undefined && !worn.has(known)) {
      return known;
    }
    let tag = 0;
    while (worn.has(tag)) {
      tag += 1;
    }
    this._tags = new Map([...this._tags, [id, tag] as const].slice(-REMEMBERED));
    this._write();
    return tag;
  }

  private _read(): readonly (readonly [string, number])[] {
    try {
      const stored: unknown = JSON.parse(this._storage?.getItem(this._key) ?? '[]');
      return Array.isArray(stored) ? stored.filter(isTag) : [];
    } catch (reason) {
      console.warn('dask-diag-lab: the colours of clusters are not remembered.', reason);
      return [];
    }
  }

  private _write(): void {
    try {
      this._storage?.setItem(this._key, JSON.stringify([...this._tags]));
    } catch (reason) {
      console.warn('dask-diag-lab: the colours of clusters are not kept.', reason);
    }
  }

  private _tags: ReadonlyMap<string, number>;
}

function isTag(value: unknown): value is readonly [string, number] {
  const [id, tag] = Array.isArray(value) ? value : [];
  return typeof id === 'string' && Number.isInteger(tag) && tag >= 0;
}
