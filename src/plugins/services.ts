/** Provides what the other plugins share: settings, the list of dashboards, what draws a plot. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IThemeManager } from '@jupyterlab/apputils';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';
import { Token } from '@lumino/coreutils';
import { Signal, type ISignal } from '@lumino/signaling';

import { DashboardsModel, IDashboards } from '../api/dashboards';
import { DashboardsFeed } from '../api/feed';
import { Server } from '../api/server';
import { BokehLoader } from '../plot/bokeh';
import { isText, PALETTES, type Palette } from '../plot/control';
import { readLook, storageKey } from '../plot/look';
import { CommandIDs, PANE_CLASS, PluginIDs, TokenIDs, TRANSLATION_DOMAIN } from '../tokens';
import { IPlotServices, type IKey } from '../widgets/services';
import { layoutOf, type ILayoutStep } from './layouts';

/** What a user can set. */
export interface IPreferences {
  readonly favorites: ReadonlySet<string>;
  /** The panes of “open the usual four”. */
  readonly layout: readonly ILayoutStep[];
  readonly showsStatus: boolean;
  /** Colours of task prefixes. */
  readonly palette: Palette;
  readonly changed: ISignal<IPreferences, void>;
  toggleFavorite(plot: string): void;
}

export const IPreferences = new Token<IPreferences>(
  TokenIDs.preferences,
  'The settings of the Dask diagnostics: favourites, layout, status bar, colours.'
);

/** The settings; what is not understood, or cannot be had, counts as not set. */
class Preferences implements IPreferences {
  async follow(registry: ISettingRegistry): Promise<void> {
    try {
      this._settings = await registry.load(PluginIDs.preferences);
      this._settings.changed.connect(() => this._changed.emit());
      this._changed.emit();
    } catch (reason) {
      console.warn('dask-diag-lab: settings are not available, defaults are used.', reason);
    }
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get favorites(): ReadonlySet<string> {
    const names = this._get('favorites');
    return new Set(Array.isArray(names) ? names.filter(isText) : []);
  }

  get layout(): readonly ILayoutStep[] {
    return layoutOf(this._get('layout'));
  }

  get showsStatus(): boolean {
    return this._get('statusItem') !== false;
  }

  get palette(): Palette {
    return PALETTES.find(one => one === this._get('palette')) ?? 'viridis';
  }

  toggleFavorite(plot: string): void {
    const last = this.favorites;
    const next = last.has(plot) ? [...last].filter(one => one !== plot) : [...last, plot];
    this._settings
      ?.set('favorites', next)
      .catch((reason: unknown) => console.warn('dask-diag-lab: not saved.', reason));
  }

  private _get(key: string): unknown {
    return this._settings?.get(key).composite;
  }

  private readonly _changed = new Signal<this, void>(this);
  private _settings: ISettingRegistry.ISettings | null = null;
}

export const preferencesPlugin: JupyterFrontEndPlugin<IPreferences> = {
  id: PluginIDs.preferences,
  description: 'Settings of the Dask diagnostics.',
  autoStart: true,
  optional: [ISettingRegistry],
  provides: IPreferences,
  activate: (_: JupyterFrontEnd, registry: ISettingRegistry | null): IPreferences => {
    const preferences = new Preferences();
    if (registry !== null) {
      void preferences.follow(registry);
    }
    return preferences;
  }
};

function bundle(translator: ITranslator | null): TranslationBundle {
  return (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
}

export const dashboardsPlugin: JupyterFrontEndPlugin<IDashboards> = {
  id: PluginIDs.dashboards,
  description: 'Knows the Dask dashboards behind this Jupyter server.',
  autoStart: true,
  optional: [ITranslator],
  provides: IDashboards,
  activate: (app: JupyterFrontEnd, translator: ITranslator | null): IDashboards => {
    const { serverSettings, sessions } = app.serviceManager;
    const feed = new DashboardsFeed(new Server(serverSettings, bundle(translator)));
    const model = new DashboardsModel(feed, sessions);
    feed.start();
    return model;
  }
};

export const plotsPlugin: JupyterFrontEndPlugin<IPlotServices> = {
  id: PluginIDs.plots,
  description: 'Draws live plots natively; loads BokehJS once a page.',
  autoStart: true,
  requires: [IDashboards, IPreferences],
  optional: [IThemeManager, ITranslator],
  provides: IPlotServices,
  activate: (
    app: JupyterFrontEnd,
    dashboards: IDashboards,
    preferences: IPreferences,
    themes: IThemeManager | null,
    translator: ITranslator | null
  ): IPlotServices => {
    const trans = bundle(translator);
    const { serverSettings } = app.serviceManager;
    const lookChanged = new Signal<object, void>({});
    const read = (): ReturnType<typeof readLook> => {
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
      dashboards,
      server: new Server(serverSettings, trans),
      loader: new BokehLoader(trans),
      trans,
      get look() {
        return look;
      },
      lookChanged,
      keys: () => paneKeys(app.commands, trans)
    };
  }
};

/** Commands that not every plot knows. */
const OF_SOME_PLOTS: readonly string[] = [
  CommandIDs.zoomIn,
  CommandIDs.zoomOut,
  CommandIDs.panLeft,
  CommandIDs.panRight
];

/** The keys of the commands for panes, as the user's settings have them, in the commands' order. */
function paneKeys(commands: CommandRegistry, trans: TranslationBundle): readonly IKey[] {
  const order: readonly string[] = Object.values(CommandIDs);
  return commands.keyBindings
    .filter(
      ({ selector, command }) => selector.includes(`.${PANE_CLASS}`) && order.includes(command)
    )
    .sort((a, b) => order.indexOf(a.command) - order.indexOf(b.command))
    .map(({ keys, command, args }) => ({
      keys: keys.map(key => CommandRegistry.formatKeystroke(key)).join(' '),
      label: OF_SOME_PLOTS.includes(command)
        ? trans.__('%1, in plots that can', commands.label(command, args))
        : commands.label(command, args)
    }));
}
