/** The sidebar: the list of clusters and plots in Lab's left area. */

import type { ILayoutRestorer } from '@jupyterlab/application';
import { NotebookActions, type INotebookTracker, type Notebook } from '@jupyterlab/notebook';
import type { IStateDB } from '@jupyterlab/statedb';
import { MenuSvg } from '@jupyterlab/ui-components';

import { CommandIDs, NAMESPACE, PAGES, SIDEBAR_ID } from '../tokens';
import { Sidebar } from '../widgets/sidebar';
import { askPlot, frontKernel, targetOf, textArg, type Args, type IContext } from './context';
import { plotCode } from './notebooks';
import { afterPalette } from './panelist';

/** Below Lab's own tabs, before extensions that do not care (501 to 899 is for us). */
const RANK = 620;

/** Where the user's choices of open groups are kept, in the workspace's state. */
const GROUPS_KEY = `${NAMESPACE}:groups`;

export function addSidebar(
  context: IContext,
  restorer: ILayoutRestorer | null,
  state: IStateDB | null
): void {
  const { app, services, preferences, panes, notebooks } = context;
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
    createPane: (dashboard, plot) => panes.create(plot, panes.bindingTo(dashboard)),
    // A cell runs dask_diag_lab, which the kernel of one of Dask's own may lack.
    insertCell: (dashboard, plot, x, y) =>
      dashboards.get(dashboard)?.kind !== 'stock' && insertCell(notebooks, plot, x, y),
    openMenu: (dashboard, anchor) => openClusterMenu(context, dashboard, anchor),
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
  const show = async (): Promise<void> => {
    await afterPalette();
    // Notebook 7.4 collapses an area when what it shows is activated.
    if (sidebar.isVisible) {
      sidebar.activate();
    } else {
      shell.activateById(sidebar.id);
    }
  };
  commands.addCommand(CommandIDs.showSidebar, {
    label: trans.__('Show Dask clusters and plots'),
    execute: args => {
      const dashboard = textArg(args, 'dashboard');
      if (dashboard !== undefined) {
        sidebar.open(dashboard);
      }
      return show();
    }
  });
  commands.addCommand(CommandIDs.searchPlots, {
    label: trans.__('Search plots'),
    execute: show
  });
  addFavoriteCommand(context);
}

/** Open the menu of a cluster below its button. */
function openClusterMenu(
  { app: { commands }, services: { dashboards, trans } }: IContext,
  dashboard: string,
  anchor: HTMLElement
): void {
  const { openLayout, openStatusLayout, openPlot, closePlots, openStatus, copyLink } = CommandIDs;
  const items = [openLayout, openStatusLayout, openPlot, closePlots, '', openStatus, copyLink];
  const pages = new MenuSvg({ commands });
  pages.title.label = trans.__('Other pages in browser tabs');
  for (const page of PAGES.filter(one => one !== 'status')) {
    pages.addItem({ command: CommandIDs.openPage, args: { dashboard, page } });
  }
  const menu = new MenuSvg({ commands });
  for (const command of items) {
    menu.addItem(command ? { command, args: { dashboard } } : { type: 'separator' });
  }
  menu.addItem({ type: 'submenu', submenu: pages });
  // With Dask's own of the same cluster, which have no entry and menu of their own.
  for (const { id, is_removable: isRemovable } of dashboards.all) {
    const args = { dashboard: id };
    const isStock = dashboards.get(id)?.shown_with === dashboard;
    if (isStock) {
      menu.addItem({ command: openStatus, args });
    }
    if (isRemovable && (isStock || id === dashboard)) {
      menu.addItem({ command: CommandIDs.removeDashboard, args });
    }
  }
  menu.aboutToClose.connect(() => anchor.focus());
  const { left, bottom } = anchor.getBoundingClientRect();
  menu.open(left, bottom);
}

/**
 * Insert a plot where it was dropped on a notebook, and run it, after what runs already.
 *
 * Only among the cells, or in the middle third, where the dock would put a pane over the notebook:
 * beside it there is place for a pane on each side.
 */
function insertCell(
  notebooks: INotebookTracker | null,
  plot: string,
  clientX: number,
  clientY: number
): boolean {
  const isOnCells = ({ widgets }: Notebook): boolean => {
    const [first, last] = [widgets[0], widgets.at(-1)].map(cell =>
      cell?.node.getBoundingClientRect()
    );
    return first !== undefined && clientY > first.top && clientY < (last?.bottom ?? 0);
  };
  const panel = notebooks?.find(({ content, isVisible, node }) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    const x = (clientX - left) / width;
    const y = (clientY - top) / height;
    const isMiddle = Math.min(x, y, 1 - x, 1 - y) > 1 / 3;
    return (
      isVisible && (isMiddle || (Math.min(x, 1 - x) > 1 / 4 && y < 5 / 6 && isOnCells(content)))
    );
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
  if (sessionContext.session?.kernel) {
    void NotebookActions.run(content, sessionContext);
  }
  return true;
}

function addFavoriteCommand(context: IContext): void {
  const { app, services, preferences } = context;
  const { trans } = services;
  const plotOf = (args: Args): string | undefined =>
    textArg(args, 'plot') ?? targetOf(context, args)?.plot.name;
  app.commands.addCommand(CommandIDs.toggleFavorite, {
    label: args => {
      if (args['isPointed'] !== true) {
        return trans.__('Add or remove a favourite plot');
      }
      return preferences.favorites.has(plotOf(args) ?? '')
        ? trans.__('Remove from favourites')
        : trans.__('Add to favourites');
    },
    caption: trans.__('The plot of the current pane, or one that is asked for'),
    execute: async args => {
      const plot = plotOf(args) ?? (await askPlot(context, undefined))?.[1].name;
      if (plot !== undefined) {
        preferences.toggleFavorite(plot);
      }
    }
  });
}
