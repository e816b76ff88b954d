/** Provides what it takes to draw a plot; the place where the rooms behind pictures are joined. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { CommandRegistry } from '@lumino/commands';

import { BokehLoader } from '../api/bokeh';
import { Server } from '../api/server';
import { PlotConnector } from '../api/connector';
import { PageVisibility } from '../api/visibility';
import { IDashboards } from '../model/dashboards';
import { IPreferences } from '../model/preferences';
import { Succession } from '../model/succession';
import { CommandIDs, NAMESPACE, PANE_CLASS, PluginIDs } from '../tokens';
import { plotsOf, queryOf, tableOf } from '../wire';
import { IPlotServices, type IKey } from '../widgets/services';
import { PageLook } from '../widgets/theme';

export const plotsPlugin: JupyterFrontEndPlugin<IPlotServices> = {
  id: PluginIDs.plots,
  description: 'Draws live plots natively; loads BokehJS once a page.',
  autoStart: true,
  requires: [IDashboards, IPreferences],
  optional: [ITranslator],
  provides: IPlotServices,
  activate: (
    app: JupyterFrontEnd,
    dashboards: IDashboards,
    preferences: IPreferences,
    translator: ITranslator | null
  ): IPlotServices => {
    const trans = (translator ?? nullTranslator).load(NAMESPACE);
    const server = new Server(app.serviceManager.serverSettings, trans);
    const path = (plot: string): string => `plots/${encodeURIComponent(plot)}`;
    const look = new PageLook();
    const paint = (): void => look.setPalette(preferences.palette);
    preferences.changed.connect(paint);
    paint();
    return {
      dashboards,
      succession: new Succession(dashboards),
      connector: new PlotConnector(server, new BokehLoader(window, trans)),
      look,
      page: new PageVisibility(),
      trans,
      pageUrl: (dashboard, plot, given) =>
        server.relayUrl(dashboard, plot.route ?? path(plot.name)) + queryOf(given),
      tableUrl: (dashboard, plot, format, given) =>
        server.relayUrl(dashboard, `${path(plot)}.${format}`) + queryOf(given),
      fetchTable: async (dashboard, plot, given) =>
        tableOf(await server.fetchRelayed(dashboard, `${path(plot)}.json`, queryOf(given))),
      keys: () => paneKeys(app, trans),
      fetchHelp: async (dashboard, name) => {
        const plots = plotsOf(await server.fetchRelayed(dashboard, 'plots.json'));
        return plots.find(plot => plot.name === name)?.help ?? '';
      }
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

/**
 * The keys of the commands for panes, as the user's settings have them, in the commands' order.
 *
 * They stand in the help of a pane, where the key that opened it has done its work.
 */
function paneKeys({ commands }: JupyterFrontEnd, trans: TranslationBundle): readonly IKey[] {
  const order: readonly string[] = Object.values(CommandIDs);
  return commands.keyBindings
    .filter(({ selector }) => selector.includes(`.${PANE_CLASS}`))
    .filter(({ command }) => command !== CommandIDs.showHelp)
    .sort((a, b) => order.indexOf(a.command) - order.indexOf(b.command))
    .map(({ keys, command, args }) => ({
      keys: keys.map(key => CommandRegistry.formatKeystroke(key)).join(' '),
      label: OF_SOME_PLOTS.includes(command)
        ? trans.__('%1, in plots that can', commands.label(command, args))
        : commands.label(command, args)
    }));
}
