/** The plots a user likes best, by name; told to whoever stores them. */

import { Signal, type ISignal } from '@lumino/signaling';

export interface IFavorites {
  readonly changed: ISignal<IFavorites, void>;
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

  has(plot: string): boolean {
    return this._plots.has(plot);
  }

  toggle(plot: string): void {
    if (!this._plots.delete(plot)) {
      this._plots.add(plot);
    }
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

  private _plots = new Set<string>();
  private readonly _changed = new Signal<this, void>(this);
  private readonly _edited = new Signal<this, readonly string[]>(this);
}
