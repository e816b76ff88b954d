/** The plugins of this extension; this is the only list of them. */

import { dashboardsPlugin, diagnosticsPlugin } from './plugins/main';

export default [dashboardsPlugin, diagnosticsPlugin];
