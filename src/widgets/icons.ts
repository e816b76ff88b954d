/** The icons of this extension; shapes only, colours come from Lab's icon classes. */

import { LabIcon } from '@jupyterlab/ui-components';

function icon(name: string, shapes: string): LabIcon {
  return new LabIcon({
    name: `dask-diag-lab:${name}`,
    svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 16 16"><g class="jp-icon3" fill="#616161">${shapes}</g></svg>`
  });
}

function strokes(name: string, shapes: string): LabIcon {
  return new LabIcon({
    name: `dask-diag-lab:${name}`,
    svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 16 16"><g class="jp-icon3" style="fill:none" stroke="#616161" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round">${shapes}</g></svg>`
  });
}

/** Three rows of a task stream: the mark of this extension. */
export const diagIcon = icon(
  'diag',
  '<rect x="1" y="2.5" width="7" height="3" rx="1"/><rect x="9" y="2.5" width="3" height="3" rx="1" opacity=".55"/><rect x="3" y="6.75" width="4" height="3" rx="1" opacity=".55"/><rect x="8" y="6.75" width="7" height="3" rx="1"/><rect x="1" y="11" width="5" height="3" rx="1"/><rect x="7" y="11" width="6" height="3" rx="1" opacity=".55"/>'
);

const barsIcon = icon(
  'bars',
  '<rect x="2" y="2.5" width="11" height="2.6" rx=".6"/><rect x="2" y="6.7" width="7" height="2.6" rx=".6"/><rect x="2" y="10.9" width="9" height="2.6" rx=".6"/>'
);
const progressIcon = icon(
  'progress',
  '<rect x="1.5" y="3" width="13" height="3.4" rx="1" opacity=".35"/><rect x="1.5" y="3" width="9" height="3.4" rx="1"/><rect x="1.5" y="9.6" width="13" height="3.4" rx="1" opacity=".35"/><rect x="1.5" y="9.6" width="5" height="3.4" rx="1"/>'
);
const graphIcon = icon(
  'graph',
  '<path d="M3.5 3.5 8 8m0 0-4.5 4.500M8 8h4.5" stroke="#616161" class="jp-icon-selectable-inverse" stroke-width="1.2"/><circle cx="3.5" cy="3.5" r="2"/><circle cx="3.5" cy="12.5" r="2"/><circle cx="8.5" cy="8" r="2"/><circle cx="13" cy="8" r="2"/>'
);
const memoryIcon = icon(
  'memory',
  '<rect x="1.5" y="4" width="13" height="8" rx="1" opacity=".35"/><rect x="3" y="5.5" width="2" height="5"/><rect x="6" y="5.5" width="2" height="5"/><rect x="9" y="5.5" width="2" height="5"/>'
);
const lineIcon = strokes('line', '<path d="M2 2v12h12M4.5 11 7 7l2.5 2L14 4"/>');
const tableIcon = strokes('table', '<path d="M2 3h12v10H2zM2 6.500h12M6 3v10"/>');

export const liveIcon = icon('live', '<path d="M4 2.5 13 8l-9 5.500z"/>');
export const frozenIcon = icon(
  'frozen',
  '<rect x="3.5" y="3" width="3" height="10"/><rect x="9.5" y="3" width="3" height="10"/>'
);
export const fitIcon = strokes('fit', '<path d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4"/>');
export const pictureIcon = strokes(
  'picture',
  '<path d="M8 2v8M4.8 7 8 10.2 11.2 7M2.5 13.500h11"/>'
);
export const helpIcon = strokes(
  'help',
  '<circle cx="8" cy="8" r="6.3"/><path d="M6.2 6.300a1.9 1.9 0 1 1 2.7 1.900c-.6.3-.9.7-.9 1.400M8 11.700v.1"/>'
);
export const tabIcon = strokes(
  'browser-tab',
  '<path d="M9.5 2H14v4.500M14 2 7.5 8.500M12 9.500V14H2V4h4.5"/>'
);
export const closeCardIcon = strokes('close', '<path d="m4 4 8 8M12 4l-8 8"/>');
export const moreIcon = icon(
  'more',
  '<circle cx="3" cy="8" r="1.4"/><circle cx="8" cy="8" r="1.4"/><circle cx="13" cy="8" r="1.4"/>'
);
export const warningIcon = strokes(
  'warning',
  '<path d="M8 2.200 14.500 13.500h-13zM8 6.500v3.300M8 11.600v.1"/>'
);
export const starIcon = strokes(
  'star',
  '<path d="m8 1.9 1.9 3.9 4.2.6-3 3 .7 4.200L8 11.600l-3.8 2 .7-4.2-3-3 4.2-.6z"/>'
);
export const caretIcon = strokes('caret', '<path d="m6 4 4 4-4 4"/>');
export { tableIcon };

const ICONS: ReadonlyMap<string, LabIcon> = new Map([
  ['task-stream', diagIcon],
  ['progress', progressIcon],
  ['group-progress', progressIcon],
  ['graph', graphIcon],
  ['groups', graphIcon],
  ['workers-memory', memoryIcon],
  ['cluster-memory', memoryIcon],
  ['workers', tableIcon],
  ['profile', lineIcon],
  ['profile-server', lineIcon]
]);

/** The icon of a plot: its own, or one for pictures of its kind. */
export function plotIcon(plot: string): LabIcon {
  return ICONS.get(plot) ?? (plot.includes('timeseries') ? lineIcon : barsIcon);
}
