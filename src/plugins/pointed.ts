/** What a context menu opened at: a row of the sidebar, a pane, or a pane's tab. */

import type { JupyterFrontEnd } from '@jupyterlab/application';

import type { IKnownDashboard } from '../api/dashboards';
import type { IPlot } from '../api/protocol';
import { argumentsOf, type PlotArguments } from '../plot/control';
import { PANE_CLASS, PLOT_ITEM_CLASS, TAB_CLASS } from '../tokens';
import { Pane } from '../widgets/pane';
import type { IPlotServices } from '../widgets/services';

export interface IPointed {
  readonly plot: IPlot;
  readonly dashboard: IKnownDashboard;
  readonly arguments: PlotArguments;
  /** The id of its pane; '' for a row of the list. */
  readonly widget: string;
}

/** Return the plot that the context menu is about. */
export function pointedPlot(
  app: JupyterFrontEnd,
  { dashboards }: IPlotServices
): IPointed | undefined {
  const kinds = [PLOT_ITEM_CLASS, PANE_CLASS, TAB_CLASS];
  const node = app.contextMenuHitTest(one => kinds.some(kind => one.classList.contains(kind)));
  const isTab = node?.classList.contains(TAB_CLASS) === true;
  const widget = (isTab ? node.dataset['id'] : node?.id) ?? '';
  const pane = [...app.shell.widgets('main')].find(({ id }) => id !== '' && id === widget);
  const { plot: name, dashboard: id } = (pane?.node ?? node)?.dataset ?? {};
  const dashboard = dashboards.get(id ?? '');
  const plot = dashboard?.plots.find(one => one.name === name);
  const given = pane instanceof Pane ? pane.content.arguments : argumentsOf(null);
  return dashboard && plot && { dashboard, plot, arguments: given, widget };
}
