/** Provides the settings; writes back what the user changes outside the settings editor. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ISettingRegistry } from '@jupyterlab/settingregistry';

import { IPreferences, Preferences } from '../model/preferences';
import { PluginIDs } from '../tokens';

export const preferencesPlugin: JupyterFrontEndPlugin<IPreferences> = {
  id: PluginIDs.preferences,
  description: 'Settings of the Dask diagnostics.',
  autoStart: true,
  optional: [ISettingRegistry],
  provides: IPreferences,
  activate: (_: JupyterFrontEnd, registry: ISettingRegistry | null): IPreferences => {
    const preferences = new Preferences();
    if (registry !== null) {
      void follow(registry, preferences);
    }
    return preferences;
  }
};

async function follow(registry: ISettingRegistry, preferences: Preferences): Promise<void> {
  try {
    const settings = await registry.load(PluginIDs.preferences);
    const update = (): void => preferences.update({ ...settings.composite });
    settings.changed.connect(update);
    update();
    preferences.favorites.edited.connect((_, plots) => {
      settings.set('favorites', [...plots]).catch(warn);
    });
  } catch (error) {
    warn(error);
  }
}

/** Settings that cannot be had leave the defaults, which work. */
function warn(reason: unknown): void {
  console.warn('dask-diag-lab: settings are not available, defaults are used.', reason);
}
