/** Every id this extension registers, listens to or writes into a page; no code and no imports. */

/** The commands; each has a label and is safe without arguments. */
export namespace CommandIDs {
  export const openPlot = 'dask-diag-lab:open-plot';
  export const openLayout = 'dask-diag-lab:open-layout';
  export const openStatusLayout = 'dask-diag-lab:open-status-layout';
  export const switchCluster = 'dask-diag-lab:switch-cluster';
  export const closePlots = 'dask-diag-lab:close-plots';
  export const openStatus = 'dask-diag-lab:open-status';
  export const openInBrowser = 'dask-diag-lab:open-in-browser';
  export const copyLink = 'dask-diag-lab:copy-link';
  export const addDashboard = 'dask-diag-lab:add-dashboard';
  export const removeDashboard = 'dask-diag-lab:remove-dashboard';
  export const saveRecording = 'dask-diag-lab:save-recording';
  export const showSidebar = 'dask-diag-lab:show-sidebar';
  export const searchPlots = 'dask-diag-lab:search-plots';
  export const toggleFavorite = 'dask-diag-lab:toggle-favorite';
  export const showRun = 'dask-diag-lab:show-run';
  export const showRunCell = 'dask-diag-lab:show-run-cell';
  export const compareRuns = 'dask-diag-lab:compare-runs';
  export const insertClient = 'dask-diag-lab:insert-client';
  export const insertPlot = 'dask-diag-lab:insert-plot';

  export const zoomIn = 'dask-diag-lab:zoom-in';
  export const zoomOut = 'dask-diag-lab:zoom-out';
  export const panLeft = 'dask-diag-lab:pan-left';
  export const panRight = 'dask-diag-lab:pan-right';
  export const fitPlot = 'dask-diag-lab:fit-plot';
  export const followLive = 'dask-diag-lab:follow-live';
  export const freezePlot = 'dask-diag-lab:freeze-plot';
  export const clearPlot = 'dask-diag-lab:clear-plot';
  export const showTable = 'dask-diag-lab:show-table';
  export const savePlot = 'dask-diag-lab:save-plot';
  export const showHelp = 'dask-diag-lab:show-help';
  export const goBack = 'dask-diag-lab:go-back';
  export const reloadPlot = 'dask-diag-lab:reload-plot';

  /** The button in Dask's own Client repr runs this one; we answer when nobody else does. */
  export const reprButton = 'dask:populate-and-launch-layout';
}

/** Mime types, on the drag and in notebook outputs. */
export namespace MimeTypes {
  export const plot = 'application/vnd.dask-diag-lab.plot+json';
  export const widgetFactory = 'application/vnd.lumino.widget-factory';
}

/** Routes of our server extension, below Jupyter's base URL. */
export namespace Routes {
  export const dashboards = 'dask-diag-lab/api/dashboards';
  export const events = 'dask-diag-lab/api/events';
  export const recordings = 'dask-diag-lab/api/recordings';
  export const relay = 'dask-diag-lab/dashboards';
}

/** Names other code holds on to: layouts, tests, style sheets. */
export const NAMESPACE = 'dask-diag-lab';
export const TRANSLATION_DOMAIN = 'dask_diag_lab';
export const SIDEBAR_ID = 'dask-diag-lab-sidebar';
export const BOARD_ID = 'dask-diag-lab-board';
export const PANE_CLASS = 'jp-DaskDiag-pane';
export const PLOT_ITEM_CLASS = 'jp-DaskDiag-plotItem';
export const TAB_CLASS = 'jp-DaskDiag-paneTab';
export const FRAME_CLASS = 'jp-DaskDiag-frame';
/** The name by which schemas, ours and others', add items to the toolbar of a pane. */
export const TOOLBAR_FACTORY = 'DaskDiagPane';
