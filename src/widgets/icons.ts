/** The icons of this extension; shapes only, colours come from Lab's icon classes. */

import { LabIcon } from '@jupyterlab/ui-components';

const FILLED = {
  diag: '<rect x="1" y="2.5" width="7" height="3" rx="1"/><rect x="9" y="2.5" width="3" height="3" rx="1" opacity=".55"/><rect x="3" y="6.75" width="4" height="3" rx="1" opacity=".55"/><rect x="8" y="6.75" width="7" height="3" rx="1"/><rect x="1" y="11" width="5" height="3" rx="1"/><rect x="7" y="11" width="6" height="3" rx="1" opacity=".55"/>',
  bars: '<rect x="2" y="2.5" width="11" height="2.6" rx=".6"/><rect x="2" y="6.7" width="7" height="2.6" rx=".6"/><rect x="2" y="10.9" width="9" height="2.6" rx=".6"/>',
  progress:
    '<rect x="1.5" y="3" width="13" height="3.4" rx="1" opacity=".35"/><rect x="1.5" y="3" width="9" height="3.4" rx="1"/><rect x="1.5" y="9.6" width="13" height="3.4" rx="1" opacity=".35"/><rect x="1.5" y="9.6" width="5" height="3.4" rx="1"/>',
  graph:
    '<path d="M3.5 3.5 8 8m0 0-4.5 4.500M8 8h4.5" stroke="#616161" class="jp-icon-selectable-inverse" stroke-width="1.2"/><circle cx="3.5" cy="3.5" r="2"/><circle cx="3.5" cy="12.5" r="2"/><circle cx="8.5" cy="8" r="2"/><circle cx="13" cy="8" r="2"/>',
  memory:
    '<rect x="1.5" y="4" width="13" height="8" rx="1" opacity=".35"/><rect x="3" y="5.5" width="2" height="5"/><rect x="6" y="5.5" width="2" height="5"/><rect x="9" y="5.5" width="2" height="5"/>',
  star: '<path d="m8 1.500 2 4.300 4.700.600-3.500 3.200.900 4.700L8 12l-4.100 2.300.900-4.700L1.300 6.400 6 5.800z"/>',
  live: '<path d="M4 2.5 13 8l-9 5.500z"/>',
  frozen: '<rect x="3.5" y="3" width="3" height="10"/><rect x="9.5" y="3" width="3" height="10"/>'
};
const DRAWN = {
  line: '<path d="M2 2v12h12M4.5 11 7 7l2.5 2L14 4"/>',
  table: '<path d="M2 3h12v10H2zM2 6.500h12M6 3v10"/>',
  fit: '<path d="M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4"/>',
  'zoom-in': '<circle cx="7" cy="7" r="4.5"/><path d="m10.300 10.300 3.700 3.700M5 7h4M7 5v4"/>',
  'zoom-out': '<circle cx="7" cy="7" r="4.5"/><path d="m10.300 10.300 3.700 3.700M5 7h4"/>',
  help: '<circle cx="8" cy="8" r="6.3"/><path d="M6.2 6.300a1.9 1.9 0 1 1 2.7 1.900c-.6.3-.9.7-.9 1.400M8 11.700v.1"/>',
  warning: '<path d="M8 2.200 14.500 13.500h-13zM8 6.500v3.300M8 11.600v.1"/>'
};

function icon(name: keyof typeof FILLED | keyof typeof DRAWN): LabIcon {
  const pen =
    'style="fill:none" stroke="#616161" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round"';
  const style = name in FILLED ? 'fill="#616161"' : pen;
  const shapes = { ...FILLED, ...DRAWN }[name];
  return new LabIcon({
    name: `dask-diag-lab:${name}`,
    svgstr: `<svg xmlns="http://www.w3.org/2000/svg" width="16" viewBox="0 0 16 16"><g class="jp-icon3" ${style}>${shapes}</g></svg>`
  });
}

/** Three rows of a task stream: the mark of this extension. */
export const diagIcon = icon('diag');
export const tableIcon = icon('table');
export const starIcon = icon('star');
export const liveIcon = icon('live');
export const frozenIcon = icon('frozen');
export const fitIcon = icon('fit');
export const zoomInIcon = icon('zoom-in');
export const zoomOutIcon = icon('zoom-out');
export const helpIcon = icon('help');
export const warningIcon = icon('warning');

/** By the names of plots; the first that fits. */
const KINDS: readonly (readonly [RegExp, LabIcon])[] = [
  [/stream$/, diagIcon],
  [/progress$/, icon('progress')],
  [/^(graph|groups)$/, icon('graph')],
  [/^(workers|cluster|gpu|rmm)-memory$/, icon('memory')],
  [/^workers$/, tableIcon],
  [/^profile|timeseries/, icon('line')]
];

const barsIcon = icon('bars');

/** The icon of a plot: one for pictures of its kind. */
export function plotIcon(plot: string): LabIcon {
  return KINDS.find(([names]) => names.test(plot))?.[1] ?? barsIcon;
}
