/** The plugins of this extension; this is the only list of them. */

import { layoutsPlugin } from './plugins/layouts';
import { linksPlugin } from './plugins/links';
import { notebooksPlugin } from './plugins/notebooks';
import { paneKeysPlugin, panesPlugin } from './plugins/panes';
import { dashboardsPlugin, plotsPlugin, preferencesPlugin } from './plugins/services';
import { sidebarPlugin } from './plugins/sidebar';
import { palettePlugin, statusPlugin } from './plugins/status';

export default [
  preferencesPlugin,
  dashboardsPlugin,
  plotsPlugin,
  panesPlugin,
  paneKeysPlugin,
  layoutsPlugin,
  sidebarPlugin,
  notebooksPlugin,
  linksPlugin,
  statusPlugin,
  palettePlugin
];
