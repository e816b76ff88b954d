/** The plots a user likes best, by name; told to whoever stores them. */

import { Signal, type ISignal } from '@lumino/signaling';

export interface IFavorites {
  readonly changed: ISignal<IFavorites, void>;
  readonly all: ReadonlySet<string>;
  has(plot: string): boolean;
  toggle(plot: string): void;
}

export class Favorites implements IFavorites {
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The user changed them: keep these names. */
  get edited(): ISignal<this, readonly string[]> {
    return this._edited;
  }

  /** Those of now; another set once they change. */
  get all(): ReadonlySet<string> {
    return this._plots;
  }

  has(plot: string): boolean {
    return this._plots.has(plot);
  }

  toggle(plot: string): void {
    const others = [...this._plots].filter(other => other !== plot);
    this._plots = new Set(this._plots.has(plot) ? others : [...others, plot]);
    this._changed.emit();
    this._edited.emit([...this._plots]);
  }

  /** The store holds these names now. */
  replace(plots: readonly string[]): void {
    if (plots.length !== this._plots.size || !plots.every(plot => this._plots.has(plot))) {
      this._plots = new Set(plots);
      this._changed.emit();
    }
  }

  private _plots: ReadonlySet<string> = new Set();
  private readonly _changed = new Signal<this, void>(this);
  private readonly _edited = new Signal<this, readonly string[]>(this);
}
