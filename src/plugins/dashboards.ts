/** The plugin that knows the dashboards; other extensions may use what it provides. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import type { ISessionContext } from '@jupyterlab/apputils';
import { IConsoleTracker } from '@jupyterlab/console';
import { INotebookTracker } from '@jupyterlab/notebook';
import { ITranslator, nullTranslator } from '@jupyterlab/translation';

import { DashboardsModel, IDashboards } from '../dashboards/dashboards';
import { TRANSLATION_DOMAIN } from '../tokens';
import { KernelChannels } from '../transport/channel';
import { Server } from '../transport/server';

export const dashboardsPlugin: JupyterFrontEndPlugin<IDashboards> = {
  id: 'dask-diag-lab:dashboards',
  description: 'Knows the Dask dashboards behind this Jupyter server.',
  autoStart: true,
  optional: [ITranslator, INotebookTracker, IConsoleTracker],
  provides: IDashboards,
  activate: (
    app: JupyterFrontEnd,
    translator: ITranslator | null,
    notebooks: INotebookTracker | null,
    consoles: IConsoleTracker | null
  ): IDashboards => {
    const { serverSettings, sessions } = app.serviceManager;
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const channels = new KernelChannels(trans);
    const follow = (_: unknown, { sessionContext }: { sessionContext: ISessionContext }): void => {
      sessionContext.kernelChanged.connect(
        (_, { newValue }) => newValue && channels.follow(newValue)
      );
    };
    notebooks?.widgetAdded.connect(follow);
    consoles?.widgetAdded.connect(follow);
    return new DashboardsModel(new Server(serverSettings, trans), sessions, channels);
  }
};
