/** The sidebar: the list of clusters and plots in Lab's left area. */

import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { INotebookTracker, NotebookActions } from '@jupyterlab/notebook';
import { IStateDB } from '@jupyterlab/statedb';
import { MenuSvg } from '@jupyterlab/ui-components';

import { CommandIDs, NAMESPACE, PAGES, PluginIDs, SIDEBAR_ID } from '../tokens';
import { plotCode } from '../widgets/code';
import { IPlotServices } from '../widgets/services';
import { Sidebar } from '../widgets/sidebar';
import { askDashboard, describe, frontKernel, pick, PLOT_ARG, POINTED_ARG, textArg } from './ask';
import { IPanes, type PaneList } from './panelist';
import { pointedPlot } from './pointed';
import { IPreferences } from './services';

/** Below Lab's own tabs, before extensions that do not care (501 to 899 is for us). */
const RANK = 620;

/** Where the user's choices of open groups are kept, in the workspace's state. */
const GROUPS_KEY = `${NAMESPACE}:groups`;

export const sidebarPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.sidebar,
  description: 'Lists Dask clusters and their plots.',
  autoStart: true,
  requires: [IPanes, IPlotServices, IPreferences],
  optional: [ILayoutRestorer, INotebookTracker, IStateDB],
  activate: (
    app: JupyterFrontEnd,
    panes: PaneList,
    services: IPlotServices,
    preferences: IPreferences,
    restorer: ILayoutRestorer | null,
    notebooks: INotebookTracker | null,
    state: IStateDB | null
  ): void => {
    const { commands, shell } = app;
    const { dashboards, trans } = services;
    const sidebar = new Sidebar({
      commands,
      dashboards,
      trans,
      get favorites() {
        return preferences.favorites;
      },
      frontKernel: () => frontKernel(notebooks),
      createPane: (dashboard, plot) => panes.create(plot, dashboard),
      insertCell: (plot, x, y) => insertCell(notebooks, plot, x, y),
      openMenu: clusterMenu(app, trans.__('Other pages in browser tabs')),
      onGroups: groups => void state?.save(GROUPS_KEY, groups)
    });
    void state?.fetch(GROUPS_KEY).then(stored => sidebar.restoreGroups(Object(stored) as object));
    preferences.changed.connect(sidebar.update, sidebar);
    notebooks?.currentChanged.connect((_, panel) => {
      sidebar.update();
      panel?.sessionContext.kernelChanged.connect(sidebar.update, sidebar);
    });
    shell.add(sidebar, 'left', { rank: RANK, type: 'Dask diagnostics' });
    restorer?.add(sidebar, SIDEBAR_ID);
    // Notebook 7.4 collapses an area when what it shows is activated.
    const show = (): void =>
      sidebar.isVisible ? sidebar.activate() : shell.activateById(sidebar.id);
    commands.addCommand(CommandIDs.showSidebar, {
      label: trans.__('Show Dask clusters and plots'),
      describedBy: describe(),
      execute: show
    });
    commands.addCommand(CommandIDs.searchPlots, {
      label: trans.__('Search plots'),
      describedBy: describe(),
      execute: () => {
        show();
        sidebar.focusSearch();
      }
    });
    addFavoriteCommand(app, panes, services, preferences, notebooks);
  }
};

/** The menu of a cluster, opened below its button. */
function clusterMenu(
  { commands }: JupyterFrontEnd,
  pagesLabel: string
): (dashboard: string, anchor: HTMLElement) => void {
  return (dashboard, anchor) => {
    const menu = new MenuSvg({ commands });
    const args = { dashboard };
    menu.addItem({ command: CommandIDs.openLayout, args });
    menu.addItem({ command: CommandIDs.openStatusLayout, args });
    menu.addItem({ command: CommandIDs.openPlot, args });
    menu.addItem({ command: CommandIDs.closePlots, args });
    menu.addItem({ type: 'separator' });
    menu.addItem({ command: CommandIDs.openStatus, args });
    menu.addItem({ command: CommandIDs.copyLink, args });
    const submenu = new MenuSvg({ commands });
    submenu.title.label = pagesLabel;
    for (const page of PAGES.filter(one => one !== 'status')) {
      submenu.addItem({ command: CommandIDs.openPage, args: { dashboard, page } });
    }
    menu.addItem({ type: 'submenu', submenu });
    menu.aboutToClose.connect(() => anchor.focus());
    const { left, bottom } = anchor.getBoundingClientRect();
    menu.open(left, bottom);
  };
}

/**
 * Insert a plot where it was dropped on a notebook, and run it where the kernel is idle.
 *
 * Only in the middle third, where the dock would put a pane over the notebook: beside it there is
 * place for a pane on each side.
 */
function insertCell(
  notebooks: INotebookTracker | null,
  plot: string,
  clientX: number,
  clientY: number
): boolean {
  const panel = notebooks?.find(({ isVisible, node }) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    const x = (clientX - left) / width;
    const y = (clientY - top) / height;
    return isVisible && Math.min(x, y, 1 - x, 1 - y) > 1 / 3;
  });
  if (!panel?.model) {
    return false;
  }
  const { content, model, sessionContext } = panel;
  const below = content.widgets.findIndex(({ node }) => {
    const { top, height } = node.getBoundingClientRect();
    return clientY < top + height / 2;
  });
  const index = below < 0 ? content.widgets.length : below;
  model.sharedModel.insertCell(index, { cell_type: 'code', source: plotCode(plot) });
  content.deselectAll();
  content.activeCellIndex = index;
  if (sessionContext.session?.kernel?.status === 'idle') {
    void NotebookActions.run(content, sessionContext);
  }
  return true;
}

function addFavoriteCommand(
  app: JupyterFrontEnd,
  panes: PaneList,
  services: IPlotServices,
  preferences: IPreferences,
  notebooks: INotebookTracker | null
): void {
  const { trans } = services;
  const ask = async (): Promise<string | undefined> => {
    const found = await askDashboard(services, undefined, notebooks);
    const title = trans.__('Which plot?');
    return found && (await pick(title, found.plots, plot => trans.__(plot.title)))?.name;
  };
  const pointed = (args: { readonly isPointed?: unknown }): string | undefined =>
    args.isPointed === true ? pointedPlot(app, services)?.plot.name : undefined;
  app.commands.addCommand(CommandIDs.toggleFavorite, {
    label: args => {
      const plot = pointed(args);
      if (plot === undefined) {
        return trans.__('Add or remove a favourite plot');
      }
      return preferences.favorites.has(plot)
        ? trans.__('Remove from favourites')
        : trans.__('Add to favourites');
    },
    caption: trans.__('The plot of the current pane, or one that is asked for'),
    describedBy: describe({ ...PLOT_ARG, ...POINTED_ARG }),
    execute: async args => {
      const own = textArg(args, 'plot') ?? pointed(args) ?? panes.current?.content.plot;
      const plot = own ?? (await ask());
      if (plot !== undefined) {
        preferences.toggleFavorite(plot);
      }
    }
  });
}
