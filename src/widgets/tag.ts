/** The small mark by which dashboards are told apart: a colour and a number. */

import type { Title, Widget } from '@lumino/widgets';

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
  const tag = tagOf(dashboard, dashboards);
  element.hidden = tag === null;
  if (dashboard !== undefined && tag !== null) {
    setText(element, tag.number);
    element.dataset['color'] = tag.color;
    element.title = dashboard.shownName;
  }
}

/** Show a dashboard's tag in a tab, which the style draws; none when it is all there is. */
export function showTabTag(
  title: Title<Widget>,
  dashboard: IKnownDashboard | undefined,
  dashboards: IDashboards
): void {
  const tag = tagOf(dashboard, dashboards);
  const { tag: number, color, ...others } = title.dataset;
  if (number !== tag?.number || color !== tag?.color) {
    title.dataset = tag === null ? others : { ...others, tag: tag.number, color: tag.color };
  }
}

function tagOf(
  dashboard: IKnownDashboard | undefined,
  dashboards: IDashboards
): { readonly number: string; readonly color: string } | null {
  if (dashboard === undefined || dashboards.all.length < 2) {
    return null;
  }
  return { number: String(dashboard.tag + 1), color: String(dashboard.tag % COLORS) };
}
