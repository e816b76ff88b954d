/** The plugins of this extension; each is small, and this is the only list of them. */

import { cellsPlugin } from './plugins/cells';
import { dashboardsPlugin } from './plugins/dashboards';
import { layoutsPlugin } from './plugins/layouts';
import { linksPlugin } from './plugins/links';
import { outputsPlugin } from './plugins/outputs';
import { palettePlugin } from './plugins/palette';
import { paneKeysPlugin } from './plugins/panekeys';
import { panesPlugin } from './plugins/panes';
import { plotMenuPlugin } from './plugins/plotmenu';
import { plotsPlugin } from './plugins/plots';
import { preferencesPlugin } from './plugins/preferences';
import { reprButtonPlugin } from './plugins/reprbutton';
import { sidebarPlugin } from './plugins/sidebar';
import { statusItemPlugin } from './plugins/statusitem';

export default [
  preferencesPlugin,
  dashboardsPlugin,
  plotsPlugin,
  panesPlugin,
  paneKeysPlugin,
  layoutsPlugin,
  reprButtonPlugin,
  sidebarPlugin,
  cellsPlugin,
  linksPlugin,
  plotMenuPlugin,
  palettePlugin,
  outputsPlugin,
  statusItemPlugin
];
