/** Plots in notebooks: live in the outputs of cells, and as code in the notebook in front. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { INotebookTracker, NotebookActions } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';

import { CommandIDs, MimeTypes, PluginIDs } from '../tokens';
import { LOCAL_CLUSTER, plotCode } from '../widgets/code';
import { OutputPlot } from '../widgets/output';
import { IPlotServices } from '../widgets/services';
import { describe, notify, PLOT_ARG, POINTED_ARG, textArg } from './ask';
import { openInBrowser } from './panelist';
import { pointedPlot } from './pointed';

/** Before HTML and text, which say where to see the plot instead. */
const RANK = 10;

export const notebooksPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.notebooks,
  description: 'Live Dask plots in notebook outputs; code for a local cluster or a plot.',
  autoStart: true,
  requires: [IPlotServices],
  optional: [IRenderMimeRegistry, INotebookTracker],
  activate: (
    app: JupyterFrontEnd,
    services: IPlotServices,
    registry: IRenderMimeRegistry | null,
    notebooks: INotebookTracker | null
  ): void => {
    const { trans } = services;
    registry?.addFactory({
      safe: true, // it names a plot of a listed dashboard and can do nothing else
      mimeTypes: [MimeTypes.plot],
      defaultRank: RANK,
      createRenderer: ({ resolver }) =>
        new OutputPlot(services, resolver, plot =>
          // A cell has no place for what a click in its picture asks for.
          plot.opened.connect((_, opening) => openInBrowser(services, plot, opening))
        )
    });
    const insert = (code: string): void => {
      const panel = notebooks?.currentWidget;
      if (!panel?.model) {
        notify(trans.__('Open a notebook first; the code goes into the one in front.'));
        return;
      }
      const { content } = panel;
      const isFree =
        content.activeCell?.model.type === 'code' &&
        content.activeCell.model.sharedModel.getSource().trim() === '';
      if (!isFree) {
        NotebookActions.insertBelow(content);
      }
      content.activeCell?.model.sharedModel.setSource(code);
      app.shell.activateById(panel.id);
    };
    app.commands.addCommand(CommandIDs.insertClient, {
      label: trans.__('Insert code for a local cluster'),
      describedBy: describe(),
      execute: () => insert(LOCAL_CLUSTER)
    });
    app.commands.addCommand(CommandIDs.insertPlot, {
      label: args =>
        args['isPointed'] === true
          ? trans.__('Insert into the notebook')
          : trans.__('Insert code that shows a plot'),
      describedBy: describe({ ...PLOT_ARG, ...POINTED_ARG }),
      execute: args => {
        const pointed = args['isPointed'] === true ? pointedPlot(app, services) : undefined;
        insert(plotCode(textArg(args, 'plot') ?? pointed?.plot.name ?? 'task-stream'));
      }
    });
  }
};
