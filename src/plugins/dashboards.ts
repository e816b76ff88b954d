/** Provides the list of dashboards; starts to listen, waits for nothing. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';

import { DashboardsFeed } from '../api/feed';
import { Server } from '../api/server';
import { PageVisibility } from '../api/visibility';
import { DashboardsModel, IDashboards } from '../model/dashboards';
import { SessionNotebooks } from '../model/notebooks';
import { PluginIDs } from '../tokens';

export const dashboardsPlugin: JupyterFrontEndPlugin<IDashboards> = {
  id: PluginIDs.dashboards,
  description: 'Knows the Dask dashboards behind this Jupyter server.',
  autoStart: true,
  provides: IDashboards,
  activate: (app: JupyterFrontEnd): IDashboards => {
    const { serverSettings, sessions } = app.serviceManager;
    const feed = new DashboardsFeed(new Server(serverSettings), new PageVisibility());
    const model = new DashboardsModel(feed, new SessionNotebooks(sessions));
    feed.start();
    return model;
  }
};
