/** What a user can set, by `schema/plugin.json`. */

import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import { Signal, type ISignal } from '@lumino/signaling';

import type { Palette } from '../protocol/control';
import type { ITranslate } from '../text';
import { notifyError, type MODES } from './commands';

/** The plugin of what the others share; users have their settings under this name. */
export const SHARED_ID = 'dask-diag-lab:plugin';

/** One pane of a layout: where it goes, relative to a pane named before it or to the notebook. */
export interface ILayoutStep {
  readonly plot: string;
  readonly mode: (typeof MODES)[number];
  /** The plot it is placed at; the notebook when left out, or the main area when there is none. */
  readonly at?: string;
}

/** The user's settings; the defaults until they are there. */
export class Settings {
  constructor(registry: ISettingRegistry | null, trans: ITranslate) {
    registry
      ?.load(SHARED_ID)
      .then(settings => {
        this._settings = settings;
        settings.changed.connect(() => this._changed.emit());
        this._changed.emit();
      })
      .catch((reason: unknown) => {
        notifyError(trans.__('The settings of Dask diagnostics cannot be read.'), reason, trans);
      });
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get favorites(): ReadonlySet<string> {
    return new Set(this._get<string[]>('favorites', []));
  }

  /** The panes of “open the usual four”; empty for ours. */
  get layout(): readonly ILayoutStep[] {
    return this._get('layout', []);
  }

  /** Colours of task prefixes. */
  get palette(): Palette {
    return this._get('palette', 'viridis');
  }

  toggleFavorite(plot: string): void {
    const last = this.favorites;
    const next = last.has(plot) ? [...last].filter(one => one !== plot) : [...last, plot];
    void this._settings?.set('favorites', next);
  }

  private _get<T>(key: string, otherwise: T): T {
    return (this._settings?.get(key).composite ?? otherwise) as T; // the schema has checked it
  }

  private readonly _changed = new Signal<this, void>(this);
  private _settings: ISettingRegistry.ISettings | null = null;
}
