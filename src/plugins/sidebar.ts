/** The plugin of the sidebar: the list of clusters and plots in Lab's left area. */

import { ILayoutRestorer } from '@jupyterlab/application';
import { NotebookActions, type INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { IStateDB } from '@jupyterlab/statedb';
import { searchIcon } from '@jupyterlab/ui-components';

import { CommandIDs, NAMESPACE, SIDEBAR_ID } from '../tokens';
import { diagIcon, starIcon } from '../widgets/icons';
import { Sidebar } from '../widgets/sidebar';
import { afterPalette, describedBy, isPointed, textArg, type Args } from './commands';
import { addOn, askPlot, frontKernel, isOfNotebook, targetOf, type IContext } from './context';
import { plotCode } from './outputs';

/** Below Lab's own tabs, before extensions that do not care (501 to 899 is for us). */
const RANK = 620;

/** Where the user's choices of open groups are kept, in the workspace's state. */
const GROUPS_KEY = `${NAMESPACE}:groups`;

export const sidebarPlugin = addOn(
  'sidebar',
  'Lists Dask clusters and their plots in a sidebar.',
  [ILayoutRestorer, IStateDB],
  (context, restorer, state) => {
    const sidebar = makeSidebar(context, state);
    restorer?.add(sidebar, SIDEBAR_ID);
    addSidebarCommands(context, sidebar);
    addFavoriteCommand(context);
  }
);

function makeSidebar(context: IContext, state: IStateDB | null): Sidebar {
  const { app, services, settings, panes, notebooks } = context;
  const { trans } = services;
  const sidebar = new Sidebar({
    services,
    get favorites() {
      return settings.favorites;
    },
    frontKernel: () => frontKernel(notebooks),
    createPane: (dashboard, plot) => panes?.create(plot, panes.bindingTo(dashboard)) ?? null,
    insertCell: (dashboard, plot, x, y) => {
      const panel = notebookAt(notebooks, x, y);
      if (panel && isOfNotebook(context, panel, dashboard)) {
        insertCell(panel, plot, y);
      } else if (panel) {
        panes?.open(plot, panes.bindingTo(dashboard));
      }
      return panel !== undefined;
    },
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
    describedBy: describedBy(),
    execute: show
  });
  commands.addCommand(CommandIDs.searchPlots, {
    label: trans.__('Search plots'),
    icon: searchIcon,
    describedBy: describedBy(),
    execute: show
  });
}

/**
 * Return the notebook in whose middle a plot was dropped.
 *
 * Not near its left, right and lower edge: there the dock puts a pane beside it.
 */
function notebookAt(
  notebooks: INotebookTracker | null,
  clientX: number,
  clientY: number
): NotebookPanel | undefined {
  return notebooks?.find(({ isVisible, model, content }) => {
    const { left, top, width, height } = content.node.getBoundingClientRect();
    const [x, y] = [(clientX - left) / width, (clientY - top) / height];
    return isVisible && model !== null && Math.min(x, 1 - x) > 1 / 4 && y > 0 && y < 3 / 4;
  });
}

/** Insert a plot where it was dropped, and run it, after what runs already. */
function insertCell(
  { content, model, sessionContext }: NotebookPanel,
  plot: string,
  clientY: number
): void {
  const below = content.widgets.findIndex(({ node }) => {
    const { top, height } = node.getBoundingClientRect();
    return clientY < top + height / 2;
  });
  const index = below < 0 ? content.widgets.length : below;
  model?.sharedModel.insertCell(index, { cell_type: 'code', source: plotCode(plot) });
  content.deselectAll();
  content.activeCellIndex = index;
  void NotebookActions.run(content, sessionContext);
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
