/** A plot that a click in a picture asked for, in a browser tab where there is no better place. */

import type { PlotView } from '../widgets/plotview';
import type { IPlotServices } from '../widgets/services';
import type { IOpening } from '../wire';
import { tell } from './ask';

/** Open the plot in a browser tab, or say that the picture's dashboard has none of that name. */
export function openInBrowser(services: IPlotServices, view: PlotView, opening: IOpening): void {
  const url = openingUrl(services, view, opening);
  if (url === null) {
    const { trans } = services;
    tell(trans.__('%1 has no plot “%2”.', view.dashboardName, opening.plot));
  } else {
    window.open(url, '_blank', 'noopener');
  }
}

/** Return its address, or null when the picture's dashboard has no such plot. */
export function openingUrl(
  services: IPlotServices,
  { dashboard }: PlotView,
  { plot, arguments: given }: IOpening
): string | null {
  const known = dashboard?.plots.find(one => one.name === plot);
  if (dashboard === undefined || known === undefined) {
    return null;
  }
  return services.pageUrl(dashboard.id, known, given);
}
