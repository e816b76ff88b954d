/** Draws plots in notebook outputs, as panes draw them. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';

import { MimeTypes, PluginIDs } from '../tokens';
import { OutputPlot } from '../widgets/outputplot';
import { IPlotServices } from '../widgets/services';
import { NewClusters } from './newclusters';
import { openInBrowser } from './opening';

/** Before HTML and text, which say where to see the plot instead. */
const RANK = 10;

export const outputsPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.outputs,
  description: 'Live Dask plots in notebook outputs.',
  autoStart: true,
  requires: [IRenderMimeRegistry, IPlotServices],
  activate: (_: JupyterFrontEnd, registry: IRenderMimeRegistry, services: IPlotServices): void => {
    const scope = services.trans.__('In all cells that show the same cluster as this one');
    const newClusters = new NewClusters(services, scope);
    registry.addFactory({
      safe: true, // it names a plot of a listed dashboard and can do nothing else
      mimeTypes: [MimeTypes.plot],
      defaultRank: RANK,
      createRenderer: options =>
        new OutputPlot(services, options.resolver ?? null, (view, isChosen) => {
          // A cell has no place for what a click in its picture asks for.
          view.opened.connect((__, opening) => openInBrowser(services, view, opening));
          if (!isChosen) {
            newClusters.watch(view);
          }
        })
    });
  }
};
