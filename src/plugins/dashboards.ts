/** Provides the list of dashboards; starts to listen, waits for nothing. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { DashboardsFeed } from '../api/feed';
import { Server } from '../api/server';
import { PageVisibility } from '../api/visibility';
import { DashboardsModel, IDashboards } from '../model/dashboards';
import { ListedWord } from '../model/listedword';
import { SessionNotebooks } from '../model/notebooks';
import { browserStorage } from '../model/storage';
import { Tags } from '../model/tags';
import { NAMESPACE, PluginIDs } from '../tokens';

export const dashboardsPlugin: JupyterFrontEndPlugin<IDashboards> = {
  id: PluginIDs.dashboards,
  description: 'Knows the Dask dashboards behind this Jupyter server.',
  autoStart: true,
  optional: [ITranslator],
  provides: IDashboards,
  activate: (app: JupyterFrontEnd, translator: ITranslator | null): IDashboards => {
    const trans = (translator ?? nullTranslator).load(NAMESPACE);
    const { serverSettings, sessions } = app.serviceManager;
    const feed = new DashboardsFeed(new Server(serverSettings, trans), new PageVisibility());
    const tags = new Tags(browserStorage(), `${NAMESPACE}:tags`);
    const model = new DashboardsModel(feed, new SessionNotebooks(sessions), tags);
    const word = new ListedWord(browserStorage(), `${NAMESPACE}:listed`);
    model.changed.connect(word.tell, word);
    feed.start();
    return model;
  }
};
