/** The sidebar: the list of clusters and plots in Lab's left area. */

import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { INotebookTracker } from '@jupyterlab/notebook';
import { IStateDB } from '@jupyterlab/statedb';
import type { TranslationBundle } from '@jupyterlab/translation';
import { Menu } from '@lumino/widgets';

import { Groups } from '../model/groups';
import { IPreferences } from '../model/preferences';
import { CommandIDs, NAMESPACE, PAGES, PluginIDs, SIDEBAR_ID } from '../tokens';
import { IPlotServices } from '../widgets/services';
import { Sidebar } from '../widgets/sidebar';
import type { ISidebarHost } from '../widgets/sidebarhost';
import { NO_ARGUMENTS } from '../wire';
import { describe, PLOT_ARG, textArg } from './args';
import { askDashboard, askPlot, frontKernel } from './ask';
import { showDropped } from './droppedcell';
import { NotebookInFront } from './front';
import { IPanes } from './ipanes';

/** Below Lab's own tabs, before extensions that do not care (501 to 899 is for us). */
const RANK = 620;

const MENU = [
  CommandIDs.openLayout,
  CommandIDs.openStatusLayout,
  CommandIDs.openPlot,
  null,
  CommandIDs.openStatus,
  CommandIDs.copyLink
];

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
    panes: IPanes,
    services: IPlotServices,
    preferences: IPreferences,
    restorer: ILayoutRestorer | null,
    notebooks: INotebookTracker | null,
    state: IStateDB | null
  ): void => {
    const groups = new Groups();
    if (state !== null) {
      void remember(groups, state);
    }
    const front = new NotebookInFront(app, notebooks);
    const host = { ...hostOf(app, panes, services, preferences), groups, front };
    const onCodeDropped = (dashboard: string, cell: string): void =>
      void showDropped(notebooks, services, dashboard, cell);
    const sidebar = new Sidebar({ ...host, onCodeDropped });
    app.shell.add(sidebar, 'left', { rank: RANK, type: 'Dask diagnostics' });
    restorer?.add(sidebar, SIDEBAR_ID);
    addCommands(app, sidebar, services.trans);
    addFavoriteCommand(app, panes, services, preferences, notebooks);
  }
};

function hostOf(
  app: JupyterFrontEnd,
  panes: IPanes,
  { connector, dashboards, look, trans }: IPlotServices,
  { favorites }: IPreferences
): Omit<ISidebarHost, 'onCodeDropped' | 'groups' | 'front'> {
  const menu = new Menu({ commands: app.commands });
  const pages = new Menu({ commands: app.commands });
  pages.title.label = trans.__('Other pages in browser tabs');
  return {
    dashboards,
    favorites,
    trans,
    openPlot: (dashboard, plot) => void panes.open(plot, dashboard),
    preparePlot: (dashboard, plot) => {
      const { kind, state } = dashboards.get(dashboard) ?? {};
      const isDrawn = kind === 'diagnostics' && state === 'live';
      if (isDrawn && panes.find(plot, dashboard) === undefined) {
        connector.prepare(dashboard, plot, look.current, NO_ARGUMENTS);
      }
    },
    openLayout: dashboard => void app.commands.execute(CommandIDs.openLayout, { dashboard }),
    createPane: (dashboard, plot) => panes.create(plot, dashboard),
    insertClient: () => void app.commands.execute(CommandIDs.insertClient),
    openMenu: (dashboard, anchor) => {
      menu.clearItems();
      for (const command of MENU) {
        menu.addItem(command === null ? { type: 'separator' } : { command, args: { dashboard } });
      }
      pages.clearItems();
      for (const page of PAGES.filter(one => one !== 'status')) {
        pages.addItem({ command: CommandIDs.openPage, args: { dashboard, page } });
      }
      menu.addItem({ type: 'submenu', submenu: pages });
      const { left, bottom } = anchor.getBoundingClientRect();
      menu.open(left, bottom);
    }
  };
}

/** Bring back which groups were open, and keep what the user changes. */
async function remember(groups: Groups, state: IStateDB): Promise<void> {
  groups.edited.connect((_, choices) => {
    state.save(GROUPS_KEY, { ...choices }).catch(warn);
  });
  await state.fetch(GROUPS_KEY).then(stored => groups.restore(stored), warn);
}

function warn(reason: unknown): void {
  console.warn('dask-diag-lab: which groups are open is not remembered.', reason);
}

function addCommands(app: JupyterFrontEnd, sidebar: Sidebar, trans: TranslationBundle): void {
  // Notebook 7.4 collapses an area when what it shows is activated.
  const show = (): void =>
    sidebar.isVisible ? sidebar.activate() : app.shell.activateById(sidebar.id);
  app.commands.addCommand(CommandIDs.showSidebar, {
    label: trans.__('Show Dask clusters and plots'),
    describedBy: describe(),
    execute: show
  });
  app.commands.addCommand(CommandIDs.searchPlots, {
    label: trans.__('Search plots'),
    describedBy: describe(),
    execute: () => {
      show();
      sidebar.focusSearch();
    }
  });
}

function addFavoriteCommand(
  app: JupyterFrontEnd,
  panes: IPanes,
  { dashboards, trans }: IPlotServices,
  { favorites }: IPreferences,
  notebooks: INotebookTracker | null
): void {
  const ask = async (): Promise<string | undefined> => {
    const kernel = frontKernel(notebooks);
    const dashboard = await askDashboard(dashboards, trans, undefined, kernel);
    return dashboard && (await askPlot(dashboard, trans));
  };
  app.commands.addCommand(CommandIDs.toggleFavorite, {
    label: trans.__('Add or remove a favourite plot'),
    caption: trans.__('The plot of the current pane, or one that is asked for'),
    describedBy: describe(PLOT_ARG),
    execute: async args => {
      const plot = textArg(args, 'plot') ?? panes.current?.view.plot ?? (await ask());
      if (plot !== undefined) {
        favorites.toggle(plot);
      }
    }
  });
}
