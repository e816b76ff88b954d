/** The plugin of recordings: files *.daskrun, whose plots a double click in the file browser opens. */

import { showErrorMessage } from '@jupyterlab/apputils';
import { PathExt } from '@jupyterlab/coreutils';
import {
  ABCWidgetFactory,
  DocumentWidget,
  TextModelFactory,
  type DocumentRegistry
} from '@jupyterlab/docregistry';
import { Widget } from '@lumino/widgets';

import type { IDashboards } from '../dashboards/dashboards';
import { h, messageOf } from '../text';
import { CommandIDs } from '../tokens';
import { diagIcon } from '../widgets/icons';
import { runCommand } from '../widgets/services';
import { addOn } from './context';

const FILE_TYPE = 'daskrun';
const MODEL = 'dask-diag-lab:unread';

/** Drives whose paths are those of the Jupyter server's files; `RTC` is jupyter-collaboration's. */
const OWN_DRIVES = ['', 'RTC'];

export const recordingsPlugin = addOn(
  'recordings',
  'Opens recordings of Dask clusters, files *.daskrun, from the file browser.',
  [],
  ({ app: { docRegistry, serviceManager }, services }) => {
    const { commands, dashboards, server, trans } = services;
    const { contents } = serviceManager;
    const open = async (path: string): Promise<void> => {
      try {
        const isOwn = OWN_DRIVES.includes(contents.driveName(path));
        const dashboard = await server.openRecording(isOwn ? contents.localPath(path) : path);
        await listed(dashboards, dashboard);
        runCommand(commands, CommandIDs.openLayout, { dashboard });
      } catch (reason) {
        const title = trans.__('%1 cannot be opened', PathExt.basename(path));
        void showErrorMessage(title, messageOf(reason, trans));
      }
    };
    const label = trans.__('Dask recording');
    docRegistry.addFileType({
      name: FILE_TYPE,
      displayName: label,
      extensions: ['.daskrun'],
      contentType: 'file',
      fileFormat: 'base64',
      icon: diagIcon
    });
    docRegistry.addModelFactory(new UnreadModelFactory());
    const shown = { name: FILE_TYPE, label, modelName: MODEL, readOnly: true };
    const types = { fileTypes: [FILE_TYPE], defaultFor: [FILE_TYPE] };
    docRegistry.addWidgetFactory(
      new RecordingFactory({ ...shown, ...types }, open, trans.__('Opening the recording…'))
    );
  }
);

/** The model of a file that the browser does not read: the Jupyter server does. */
class UnreadModelFactory extends TextModelFactory {
  override get name(): string {
    return MODEL;
  }

  override get fileFormat(): null {
    return null;
  }
}

/** Opens a file's plots; the tab that Lab wants for a file is there until then. */
class RecordingFactory extends ABCWidgetFactory<DocumentWidget> {
  constructor(
    options: DocumentRegistry.IWidgetFactoryOptions<DocumentWidget>,
    private readonly _open: (path: string) => Promise<void>,
    private readonly _waiting: string
  ) {
    super(options);
  }

  protected override createNewWidget(context: DocumentRegistry.Context): DocumentWidget {
    const hint = h('div', { class: 'jp-DaskDiag-hint', role: 'status' }, this._waiting);
    const widget = new DocumentWidget({ content: new Widget({ node: hint }), context });
    void context.ready.then(() => this._open(context.path)).finally(() => widget.dispose());
    return widget;
  }
}

/** Resolves when a dashboard is in the list: one that was opened comes with the next change. */
function listed(dashboards: IDashboards, id: string): Promise<void> {
  return new Promise(resolve => {
    const look = (): void => {
      if (dashboards.get(id) !== undefined) {
        dashboards.changed.disconnect(look);
        resolve();
      }
    };
    dashboards.changed.connect(look);
    look();
  });
}
