/** Which colour tag each dashboard wears, kept in the browser so that a reload changes none. */

import type { IStorage } from './storage';

/** How many dashboards are remembered, or all that are listed; a browser sees many in its life. */
const REMEMBERED = 100;

export class Tags {
  /**
   * @param _storage - where tags are kept; null for nowhere.
   * @param _key - names them there.
   */
  constructor(
    private readonly _storage: IStorage | null,
    private readonly _key: string
  ) {}

  /** Return a dashboard's tag: the one it had, or the lowest, that no other of those listed wears. */
  of(id: string, listed: readonly string[]): number {
    const others = listed.filter(other => other !== id);
    const shown = [...this._tags].filter(([other]) => others.includes(other));
    // Other pages of this browser write there too; what is on screen here stays.
    this._tags = new Map([...this._read(), ...shown]);
    const worn = new Set(others.map(other => this._tags.get(other)));
    const known = this._tags.get(id);
    if (known !== undefined && !worn.has(known)) {
      return known;
    }
    let tag = 0;
    while (worn.has(tag)) {
      tag += 1;
    }
    this._tags = remembered(new Map([...this._tags, [id, tag]]), [...others, id]);
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

  private _tags: ReadonlyMap<string, number> = new Map();
}

/** Return the tags without those too many, of which none is listed; the listed ones go last. */
function remembered(
  tags: ReadonlyMap<string, number>,
  listed: readonly string[]
): ReadonlyMap<string, number> {
  const present = [...tags].filter(([id]) => listed.includes(id));
  const gone = [...tags].filter(([id]) => !listed.includes(id));
  const room = Math.max(0, REMEMBERED - present.length);
  return new Map([...gone.slice(Math.max(0, gone.length - room)), ...present]);
}

function isTag(value: unknown): value is readonly [string, number] {
  const [id, tag] = Array.isArray(value) ? value : [];
  return typeof id === 'string' && Number.isInteger(tag) && tag >= 0;
}
