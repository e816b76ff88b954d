/** Pages of dashboards in browser tabs. */

import type { IKnownDashboard } from '../dashboards/dashboards';
import type { IOpening } from '../protocol/control';
import type { ITranslate } from '../text';
import type { PlotWidget } from '../widgets/plotwidget';
import type { IPlotServices } from '../widgets/services';
import { notify } from './dialogs';

/** Whether a dashboard has pages for browser tabs, and say so where not. */
export function hasPages({ channel, shownName }: IKnownDashboard, trans: ITranslate): boolean {
  if (channel !== undefined) {
    notify(
      trans.__(
        '%1 is reached through the messages of its kernel only: its plots open in panes.',
        shownName
      )
    );
  }
  return channel === undefined;
}

export function openTab(url: string | undefined): void {
  if (url !== undefined) {
    window.open(url, '_blank', 'noopener');
  }
}

/** Open a plot that a click asked for in a browser tab, or say that there is none of that name. */
export function openInBrowser(
  { server, trans }: IPlotServices,
  { dashboard, dashboardName }: PlotWidget,
  { plot, arguments: given }: IOpening
): void {
  const known = dashboard?.plots.find(({ name }) => name === plot);
  if (!dashboard || !known) {
    notify(trans.__('%1 has no plot “%2”.', dashboardName, plot));
  } else if (hasPages(dashboard, trans)) {
    openTab(server.plotUrl(dashboard.id, known, given));
  }
}
