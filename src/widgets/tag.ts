/** The small mark by which dashboards are told apart: a colour and a number. */

import type { IDashboards, IKnownDashboard } from '../model/dashboards';
import { setText } from './dom';

/** How many colours there are; later dashboards reuse them, with another number. */
const COLORS = 6;

/** Show a dashboard's tag in an element, or hide it when one dashboard is all there is. */
export function showTag(
  element: HTMLElement,
  dashboard: IKnownDashboard | undefined,
  dashboards: IDashboards
): void {
  element.hidden = dashboard === undefined || dashboards.all.length < 2;
  if (dashboard !== undefined) {
    setText(element, String(dashboard.tag + 1));
    element.dataset['color'] = String(dashboard.tag % COLORS);
    element.title = dashboard.shownName;
  }
}
