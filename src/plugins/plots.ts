/** Provides what it takes to draw a plot; the place where the rooms behind pictures are joined. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { BokehLoader } from '../api/bokeh';
import { Server } from '../api/server';
import { PlotConnector } from '../api/session';
import { PageVisibility } from '../api/visibility';
import { IDashboards } from '../model/dashboards';
import { NAMESPACE, PluginIDs } from '../tokens';
import { plotsOf, tableOf } from '../wire';
import { IPlotServices } from '../widgets/services';
import { PageLook } from '../widgets/theme';

export const plotsPlugin: JupyterFrontEndPlugin<IPlotServices> = {
  id: PluginIDs.plots,
  description: 'Draws live plots natively; loads BokehJS once a page.',
  autoStart: true,
  requires: [IDashboards],
  optional: [ITranslator],
  provides: IPlotServices,
  activate: (
    app: JupyterFrontEnd,
    dashboards: IDashboards,
    translator: ITranslator | null
  ): IPlotServices => {
    const server = new Server(app.serviceManager.serverSettings);
    const path = (plot: string): string => `plots/${encodeURIComponent(plot)}`;
    return {
      dashboards,
      connector: new PlotConnector(server, new BokehLoader(window)),
      look: new PageLook(),
      page: new PageVisibility(),
      trans: (translator ?? nullTranslator).load(NAMESPACE),
      pageUrl: (dashboard, plot) => server.relayUrl(dashboard, plot.route ?? path(plot.name)),
      tableUrl: (dashboard, plot, format) => server.relayUrl(dashboard, `${path(plot)}.${format}`),
      fetchTable: async (dashboard, plot) =>
        tableOf(await server.fetchRelayed(dashboard, `${path(plot)}.json`)),
      fetchHelp: async (dashboard, name) => {
        const plots = plotsOf(await server.fetchRelayed(dashboard, 'plots.json'));
        return plots.find(plot => plot.name === name)?.help ?? '';
      }
    };
  }
};
