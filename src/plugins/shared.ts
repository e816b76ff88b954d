/** The plugin of what the others share: the user's settings, and what draws a plot. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IThemeManager } from '@jupyterlab/apputils';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ISettingRegistry } from '@jupyterlab/settingregistry';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';

import { IDashboards } from '../dashboards/dashboards';
import { RunsModel } from '../dashboards/runs';
import { BokehLoader } from '../plot/bokeh';
import { readTheme, storageKey } from '../plot/theme';
import type { IPlotTheme } from '../protocol/control';
import { TRANSLATION_DOMAIN } from '../tokens';
import { Server } from '../transport/server';
import type { IPlotServices } from '../widgets/services';
import { IShared } from './context';
import { Settings, SHARED_ID } from './settings';

export const sharedPlugin: JupyterFrontEndPlugin<IShared> = {
  id: SHARED_ID,
  description: 'Settings, theme and drawing library of live plots of Dask clusters.',
  autoStart: true,
  requires: [IDashboards],
  optional: [ITranslator, IThemeManager, ISettingRegistry, INotebookTracker],
  provides: IShared,
  activate: (
    app: JupyterFrontEnd,
    dashboards: IDashboards,
    translator: ITranslator | null,
    themes: IThemeManager | null,
    registry: ISettingRegistry | null,
    notebooks: INotebookTracker | null
  ): IShared => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const settings = new Settings(registry, trans);
    const services = plotServices(app, dashboards, settings, themes, trans);
    return { app, services, settings, notebooks };
  }
};

function plotServices(
  app: JupyterFrontEnd,
  dashboards: IDashboards,
  settings: Settings,
  themes: IThemeManager | null,
  trans: TranslationBundle
): IPlotServices {
  const { serverSettings } = app.serviceManager;
  const themeChanged = new Signal<object, void>({});
  const read = (): IPlotTheme => {
    const { jpThemeLight, jpThemeName = '' } = document.body.dataset;
    const isLight = jpThemeLight !== 'false';
    if (jpThemeLight !== undefined) {
      // Plots in browser tabs of the same Jupyter server take Lab's theme.
      const key = storageKey('theme', serverSettings.baseUrl);
      window.localStorage.setItem(key, isLight ? 'light' : 'dark');
    }
    return readTheme(isLight, jpThemeName, settings.palette);
  };
  let theme = read();
  const update = (): void => {
    const last = JSON.stringify(theme);
    theme = read();
    if (JSON.stringify(theme) !== last) {
      themeChanged.emit();
    }
  };
  themes?.themeChanged.connect(update);
  settings.changed.connect(update);
  void app.restored.then(update);
  const server = new Server(serverSettings, trans, id => dashboards.get(id)?.channel);
  return {
    commands: app.commands,
    dashboards,
    server,
    runs: new RunsModel(dashboards, server),
    loader: new BokehLoader(trans),
    trans,
    get theme() {
      return theme;
    },
    themeChanged
  };
}
