/** The plugin of plots in notebooks: live in the outputs of cells, and as code in the notebook in front. */

import { NotebookActions } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import { addBelowIcon, codeIcon } from '@jupyterlab/ui-components';

import { isPlotName } from '../protocol/control';
import { CommandIDs, MimeTypes } from '../tokens';
import { OutputPlot } from '../widgets/output';
import { describedBy, isPointed, notify, textArg } from './commands';
import { addOn, isOfNotebook, targetOf, type IContext, type IShared } from './context';
import { openInBrowser } from './links';

/** Before HTML and text, which say where to see the plot instead. */
const RANK = 10;

/** Starts a local cluster. */
const LOCAL_CLUSTER = 'from dask.distributed import Client\nclient = Client()';

export const outputsPlugin = addOn(
  'outputs',
  'Live plots of Dask clusters in notebooks.',
  [IRenderMimeRegistry],
  (context, registry) => {
    addNotebookCommands(context);
    if (registry !== null) {
      addOutputs(context, registry);
    }
  }
);

/** Return the code that shows a plot in a cell; throw on a name that no plot has. */
export function plotCode(plot: string): string {
  if (!isPlotName(plot)) {
    throw new Error(`“${plot}” is not the name of a plot.`);
  }
  return `import dask_diag_lab\n\ndask_diag_lab.plot("${plot}")`;
}

function addOutputs({ services, notebooks }: IShared, registry: IRenderMimeRegistry): void {
  registry.addFactory({
    safe: true, // it names a plot of a listed dashboard and can do nothing else
    mimeTypes: [MimeTypes.plot],
    defaultRank: RANK,
    createRenderer: ({ resolver }) => {
      const output = new OutputPlot(services, resolver, plot =>
        // A cell has no place for what a click in its picture asks for.
        plot.opened.connect((_, link) => openInBrowser(services, plot, link))
      );
      const panel = notebooks?.find(({ context }) => context.urlResolver === resolver);
      // Where people edit together, what one writes makes the output of all others anew.
      if (panel && panel.context.model.collaborative !== true) {
        panel.context.saveState.connect(output.keep, output);
      }
      return output;
    }
  });
}

function addNotebookCommands(context: IContext): void {
  const { app, services, notebooks } = context;
  const { trans } = services;
  const insert = (code: string): void => {
    const panel = notebooks?.currentWidget;
    if (!panel?.model) {
      notify(trans.__('Open a notebook first; the code goes into the one in front.'));
      return;
    }
    const { content } = panel;
    const { model } = content.activeCell ?? {};
    if (model?.type !== 'code' || model.sharedModel.getSource().trim() !== '') {
      NotebookActions.insertBelow(content);
    }
    content.activeCell?.model.sharedModel.setSource(code);
    app.shell.activateById(panel.id);
  };
  app.commands.addCommand(CommandIDs.insertClient, {
    label: trans.__('Insert code for a local cluster'),
    icon: codeIcon,
    describedBy: describedBy(),
    execute: () => insert(LOCAL_CLUSTER)
  });
  app.commands.addCommand(CommandIDs.insertPlot, {
    label: trans.__('Insert plot into the notebook'),
    icon: addBelowIcon,
    describedBy: describedBy('plot', 'id', 'isPointed'),
    isEnabled: args => !isPointed(args) || targetOf(context, args)?.dashboard.kind !== 'stock',
    execute: args => {
      const name = textArg(args, 'plot');
      const target = name === undefined ? targetOf(context, args) : undefined;
      const panel = notebooks?.currentWidget;
      if (!target || !panel || isOfNotebook(context, panel, target.dashboard.id)) {
        insert(plotCode(name ?? target?.plot.name ?? 'task-stream'));
      }
    }
  });
}
