/** What the context menu of a plot offers: at its row in the sidebar, its pane, the pane's tab. */

import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { Clipboard } from '@jupyterlab/apputils';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import type { IKnownDashboard } from '../model/dashboards';
import { IPreferences } from '../model/preferences';
import { CommandIDs, MenuCommandIDs, PluginIDs, PLOT_ITEM_CLASS, TAB_CLASS } from '../tokens';
import type { Pane } from '../widgets/pane';
import { IPlotServices } from '../widgets/services';
import { NO_ARGUMENTS, type IPlot, type PlotArguments } from '../wire';
import { DASHBOARD_ARG, describe, PLOT_ARG, textArg } from './args';
import { IPanes } from './ipanes';

/** The plot whose menu it is. */
interface IPicked {
  readonly plot: IPlot;
  readonly dashboard: IKnownDashboard;
  readonly arguments: PlotArguments;
  /** Its pane, where the menu is of one. */
  readonly pane: Pane | undefined;
}

interface IMenuCommand {
  readonly id: string;
  readonly label: string | ((picked: IPicked | undefined) => string);
  /** Draws it in Lab, which a stock dashboard's plots are not. */
  readonly isDrawn?: boolean;
  run(picked: IPicked): unknown;
}

export const plotMenuPlugin: JupyterFrontEndPlugin<void> = {
  id: PluginIDs.plotMenu,
  description: 'The commands in the context menu of a Dask plot.',
  autoStart: true,
  requires: [IPanes, IPlotServices, IPreferences],
  activate: (
    app: JupyterFrontEnd,
    panes: IPanes,
    services: IPlotServices,
    preferences: IPreferences
  ): void => {
    const pick = (args: ReadonlyPartialJSONObject): IPicked | undefined =>
      pickedByName(services, args) ?? pickedByPointer(app, panes, services);
    const commands = [
      ...openers(panes, services),
      ...elsewhere(app, services),
      favorite(services, preferences)
    ];
    for (const command of commands) {
      const { id, label, isDrawn = false } = command;
      app.commands.addCommand(id, {
        label: args => (typeof label === 'string' ? label : label(pick(args))),
        describedBy: describe({ ...PLOT_ARG, ...DASHBOARD_ARG }),
        isEnabled: args => {
          const kind = pick(args)?.dashboard.kind;
          return kind !== undefined && (kind === 'diagnostics' || !isDrawn);
        },
        execute: async args => {
          const picked = pick(args);
          return picked && (await command.run(picked));
        }
      });
    }
  }
};

/** The plot in a pane. */
function openers(panes: IPanes, { trans }: IPlotServices): readonly IMenuCommand[] {
  const placed =
    (mode: 'split-right' | 'split-bottom') =>
    ({ plot, dashboard }: IPicked): Pane =>
      panes.place(plot.name, dashboard.id, mode);
  return [
    {
      id: MenuCommandIDs.open,
      label: trans.__('Open'),
      isDrawn: true,
      run: ({ plot, dashboard }) => panes.open(plot.name, dashboard.id)
    },
    {
      id: MenuCommandIDs.openRight,
      label: trans.__('Open to the right'),
      isDrawn: true,
      run: placed('split-right')
    },
    {
      id: MenuCommandIDs.openBelow,
      label: trans.__('Open below'),
      isDrawn: true,
      run: placed('split-bottom')
    },
    {
      id: MenuCommandIDs.showTable,
      label: trans.__('Show as a table'),
      isDrawn: true,
      run: ({ plot, dashboard, pane }) =>
        (pane ? panes.activate(pane) : panes.open(plot.name, dashboard.id)).showTable()
    }
  ];
}

/** The plot in other places. */
function elsewhere(app: JupyterFrontEnd, services: IPlotServices): readonly IMenuCommand[] {
  const { trans } = services;
  const link = ({ dashboard, plot, arguments: given }: IPicked): string =>
    services.pageUrl(dashboard.id, plot, given);
  return [
    {
      id: MenuCommandIDs.openInBrowser,
      label: trans.__('Open in browser tab'),
      run: picked => void window.open(link(picked), '_blank', 'noopener')
    },
    {
      id: MenuCommandIDs.copyLink,
      label: trans.__('Copy link'),
      run: picked => Clipboard.copyToSystem(link(picked))
    },
    {
      id: MenuCommandIDs.insert,
      label: trans.__('Insert into the notebook'),
      isDrawn: true,
      run: ({ plot }) => app.commands.execute(CommandIDs.insertPlot, { plot: plot.name })
    }
  ];
}

function favorite({ trans }: IPlotServices, { favorites }: IPreferences): IMenuCommand {
  return {
    id: MenuCommandIDs.toggleFavorite,
    label: picked =>
      picked !== undefined && favorites.has(picked.plot.name)
        ? trans.__('Remove from favourites')
        : trans.__('Add to favourites'),
    run: ({ plot }) => favorites.toggle(plot.name)
  };
}

function pickedByName(
  { dashboards }: IPlotServices,
  args: ReadonlyPartialJSONObject
): IPicked | undefined {
  return picked(dashboards.get(textArg(args, 'dashboard') ?? ''), textArg(args, 'plot'));
}

/** What the pointer, or the focus, was at when the menu was opened. */
function pickedByPointer(
  app: JupyterFrontEnd,
  panes: IPanes,
  { dashboards }: IPlotServices
): IPicked | undefined {
  const row = app.contextMenuHitTest(node => node.classList.contains(PLOT_ITEM_CLASS));
  if (row !== undefined) {
    return picked(dashboards.get(row.dataset['dashboard'] ?? ''), row.dataset['plot']);
  }
  const tab = app.contextMenuHitTest(node => node.classList.contains(TAB_CLASS));
  const own = app.contextMenuHitTest(node => panes.get(node.id) !== undefined);
  const pane = panes.get(tab?.dataset['id'] ?? own?.id ?? '');
  return pane && picked(pane.view.dashboard, pane.view.plot, pane);
}

function picked(
  dashboard: IKnownDashboard | undefined,
  name: string | undefined,
  pane?: Pane
): IPicked | undefined {
  const plot = dashboard?.plots.find(one => one.name === name);
  if (dashboard === undefined || plot === undefined) {
    return undefined;
  }
  return { dashboard, plot, arguments: pane?.view.arguments ?? NO_ARGUMENTS, pane };
}
