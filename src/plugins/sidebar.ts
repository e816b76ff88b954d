/** The plugin of the sidebar: the list of clusters and plots in Lab's left area. */

import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { NotebookActions, type INotebookTracker, type Notebook } from '@jupyterlab/notebook';
import { IStateDB } from '@jupyterlab/statedb';
import { searchIcon } from '@jupyterlab/ui-components';

import { CommandIDs, NAMESPACE, PluginIDs, SIDEBAR_ID } from '../tokens';
import { diagIcon, starIcon } from '../widgets/icons';
import { Sidebar } from '../widgets/sidebar';
import { describedBy, isPointed, textArg, type Args } from './args';
import { askPlot, frontKernel, IShared, targetOf, type IContext } from './context';
import { afterPalette } from './dialogs';
import { plotCode } from './outputs';
import { IPanes } from './panemanager';

/** Below Lab's own tabs, before extensions that do not care (501 to 899 is for us). */
const RANK = 620;

/** Where the user's choices of open groups are kept, in the workspace's state. */
const GROUPS_KEY = `${NAMESPACE}:groups`;

export const sidebarPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.sidebar,
  description: 'Lists Dask clusters and their plots in a sidebar.',
  autoStart: true,
  requires: [IShared],
  optional: [IPanes, ILayoutRestorer, IStateDB],
  activate: (
    _: JupyterFrontEnd,
    shared: IShared,
    panes: IPanes | null,
    restorer: ILayoutRestorer | null,
    state: IStateDB | null
  ): void => {
    const context = { ...shared, panes };
    const sidebar = makeSidebar(context, state);
    restorer?.add(sidebar, SIDEBAR_ID);
    addSidebarCommands(context, sidebar);
    addFavoriteCommand(context);
  }
};

function makeSidebar(context: IContext, state: IStateDB | null): Sidebar {
  const { app, services, settings, panes, notebooks } = context;
  const { dashboards, trans } = services;
  const sidebar = new Sidebar({
    services,
    get favorites() {
      return settings.favorites;
    },
    frontKernel: () => frontKernel(notebooks),
    createPane: (dashboard, plot) => panes?.create(plot, panes.bindingTo(dashboard)) ?? null,
    // A cell runs dask_diag_lab, which the kernel of one of Dask's own may lack.
    insertCell: (dashboard, plot, x, y) =>
      dashboards.get(dashboard)?.kind !== 'stock' && insertCell(notebooks, plot, x, y),
    onGroups: groups => void state?.save(GROUPS_KEY, groups)
  });
  void state?.fetch(GROUPS_KEY).then(stored => sidebar.restoreGroups(Object(stored) as object));
  settings.changed.connect(sidebar.update, sidebar);
  notebooks?.currentChanged.connect((_, panel) => {
    sidebar.update();
    panel?.sessionContext.kernelChanged.connect(sidebar.update, sidebar);
  });
  app.shell.add(sidebar, 'left', { rank: RANK, type: trans.__('Dask diagnostics') });
  return sidebar;
}

function addSidebarCommands({ app, services }: IContext, sidebar: Sidebar): void {
  const { commands, shell } = app;
  const { trans } = services;
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
    icon: diagIcon,
    describedBy: describedBy('dashboard'),
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
    icon: searchIcon,
    describedBy: describedBy(),
    execute: show
  });
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
  const { app, services, settings } = context;
  const { trans } = services;
  const plotOf = (args: Args): string | undefined =>
    textArg(args, 'plot') ?? targetOf(context, args)?.plot.name;
  app.commands.addCommand(CommandIDs.toggleFavorite, {
    label: args => {
      if (!isPointed(args)) {
        return trans.__('Add or remove a favourite plot');
      }
      return settings.favorites.has(plotOf(args) ?? '')
        ? trans.__('Remove from favourites')
        : trans.__('Add to favourites');
    },
    caption: trans.__('The plot of the current pane, or one that is asked for'),
    icon: starIcon,
    describedBy: describedBy('plot', 'id', 'isPointed'),
    execute: async args => {
      const plot = plotOf(args) ?? (await askPlot(context, args))?.[1].name;
      if (plot !== undefined) {
        settings.toggleFavorite(plot);
      }
    }
  });
}
