/** What a user can set, as this extension reads it; where it is stored is a plugin's business. */

import { Token } from '@lumino/coreutils';
import { Signal, type ISignal } from '@lumino/signaling';

import { TokenIDs } from '../tokens';
import { isText, PALETTES, type Palette } from '../wire';
import { Favorites, type IFavorites } from './favorites';
import { layoutOf, USUAL_FOUR, type ILayoutStep } from './layout';

export interface IPreferences {
  readonly favorites: IFavorites;
  /** The panes of “open the usual four”. */
  readonly layout: readonly ILayoutStep[];
  readonly showsStatus: boolean;
  /** Colours of task prefixes. */
  readonly palette: Palette;
  readonly changed: ISignal<IPreferences, void>;
}

export const IPreferences = new Token<IPreferences>(
  TokenIDs.preferences,
  'The settings of the Dask diagnostics: favourites, layout, status bar, colours.'
);

export class Preferences implements IPreferences {
  readonly favorites = new Favorites();

  get layout(): readonly ILayoutStep[] {
    return this._layout;
  }

  get showsStatus(): boolean {
    return this._showsStatus;
  }

  get palette(): Palette {
    return this._palette;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Take the values of the settings; what is not understood counts as not set. */
  update(values: Readonly<Record<string, unknown>>): void {
    const names = values['favorites'];
    this.favorites.replace(Array.isArray(names) ? names.filter(isText) : []);
    this._layout = layoutOf(values['layout']);
    this._showsStatus = values['statusItem'] !== false;
    this._palette = PALETTES.find(one => one === values['palette']) ?? 'viridis';
    this._changed.emit();
  }

  private readonly _changed = new Signal<this, void>(this);
  private _layout = USUAL_FOUR;
  private _showsStatus = true;
  private _palette: Palette = 'viridis';
}
