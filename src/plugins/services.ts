/** What commands and panes share: the user's settings, and what draws a plot. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { IThemeManager } from '@jupyterlab/apputils';
import type { ISettingRegistry } from '@jupyterlab/settingregistry';
import type { TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';

import type { IDashboards } from '../api/dashboards';
import { Server } from '../api/server';
import { BokehLoader } from '../plot/bokeh';
import type { ILook, Palette } from '../plot/control';
import { readLook, storageKey } from '../plot/look';
import { CommandIDs, PANE_CLASS, PluginIDs } from '../tokens';
import type { IKey, IPlotServices } from '../widgets/services';
import type { ILayoutStep } from './layouts';

/** What a user can set; the defaults until the settings are there. */
export class Preferences {
  readonly changed = new Signal<this, void>(this);

  constructor(registry: ISettingRegistry | null) {
    void registry?.load(PluginIDs.preferences).then(settings => {
      this._settings = settings;
      settings.changed.connect(() => this.changed.emit());
      this.changed.emit();
    });
  }

  get favorites(): ReadonlySet<string> {
    return new Set(this._get<string[]>('favorites', []));
  }

  /** The panes of “open the usual four”; empty for ours. */
  get layout(): readonly ILayoutStep[] {
    return this._get('layout', []);
  }

  get showsStatus(): boolean {
    return this._get('statusItem', true);
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

  private _settings: ISettingRegistry.ISettings | null = null;
}

export function plotServices(
  app: JupyterFrontEnd,
  dashboards: IDashboards,
  preferences: Preferences,
  themes: IThemeManager | null,
  trans: TranslationBundle
): IPlotServices {
  const { serverSettings } = app.serviceManager;
  const lookChanged = new Signal<object, void>({});
  const read = (): ILook => {
    const { jpThemeLight, jpThemeName = '' } = document.body.dataset;
    const isLight = jpThemeLight !== 'false';
    if (jpThemeLight !== undefined) {
      // Plots in browser tabs of the same Jupyter server take Lab's theme.
      const key = storageKey('theme', serverSettings.baseUrl);
      window.localStorage.setItem(key, isLight ? 'light' : 'dark');
    }
    return readLook(isLight, jpThemeName, preferences.palette);
  };
  let look = read();
  const update = (): void => {
    const last = JSON.stringify(look);
    look = read();
    if (JSON.stringify(look) !== last) {
      lookChanged.emit();
    }
  };
  themes?.themeChanged.connect(update);
  preferences.changed.connect(update);
  void app.restored.then(update);
  return {
    commands: app.commands,
    dashboards,
    server: new Server(serverSettings, trans, id => dashboards.get(id)?.channel),
    loader: new BokehLoader(trans),
    trans,
    get look() {
      return look;
    },
    lookChanged,
    keys: () => paneKeys(app.commands)
  };
}

/** The keys of the commands for panes, as the user's settings have them, in the commands' order. */
function paneKeys(commands: CommandRegistry): readonly IKey[] {
  const order: readonly string[] = Object.values(CommandIDs);
  return commands.keyBindings
    .filter(one => one.selector.includes(`.${PANE_CLASS}`) && order.includes(one.command))
    .sort((a, b) => order.indexOf(a.command) - order.indexOf(b.command))
    .map(({ keys, command, args }) => ({
      keys: keys.map(key => CommandRegistry.formatKeystroke(key)).join(' '),
      label: commands.label(command, args)
    }));
}
