/** The plugins, and what other extensions may use of them; this is the only list of both. */

import { dashboardsPlugin } from './plugins/dashboards';
import { layoutsPlugin } from './plugins/layouts';
import { linksPlugin } from './plugins/links';
import { outputsPlugin } from './plugins/outputs';
import { palettePlugin } from './plugins/palette';
import { panesPlugin } from './plugins/panes';
import { recordingsPlugin } from './plugins/recordings';
import { runningPlugin } from './plugins/running';
import { runsPlugin } from './plugins/runs';
import { sharedPlugin } from './plugins/shared';
import { sidebarPlugin } from './plugins/sidebar';
import { statusPlugin } from './plugins/status';

export type { ITag } from './dashboards/clusters';
export { IDashboards, type FeedState, type IKnownDashboard } from './dashboards/dashboards';
export type { IDashboard, IPlot, ISummary } from './protocol/dashboard';
export type { IPlotServer } from './transport/remote';

export default [
  dashboardsPlugin,
  sharedPlugin,
  panesPlugin,
  layoutsPlugin,
  sidebarPlugin,
  linksPlugin,
  outputsPlugin,
  statusPlugin,
  runningPlugin,
  runsPlugin,
  recordingsPlugin,
  palettePlugin
];
