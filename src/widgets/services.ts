/** What pictures and panes are given from outside; made once by a plugin. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { Token } from '@lumino/coreutils';

import type { IPlotConnector } from '../api/connector';
import type { IVisibility } from '../api/visibility';
import type { IDashboards } from '../model/dashboards';
import type { Succession } from '../model/succession';
import { TokenIDs } from '../tokens';
import type { IPlot, ITable, PlotArguments } from '../wire';
import type { PageLook } from './theme';

/** A key as people read it, and what it does. */
export interface IKey {
  readonly keys: string;
  readonly label: string;
}

export interface IPlotServices {
  readonly dashboards: IDashboards;
  readonly succession: Succession;
  readonly connector: IPlotConnector;
  readonly look: PageLook;
  readonly page: IVisibility;
  readonly trans: TranslationBundle;
  /** Addresses of a plot through the relay, for browser tabs and downloads. */
  pageUrl(dashboard: string, plot: IPlot, given: PlotArguments): string;
  tableUrl(dashboard: string, plot: string, format: 'json' | 'csv', given: PlotArguments): string;
  fetchTable(dashboard: string, plot: string, given: PlotArguments): Promise<ITable>;
  /** The keys that act on a pane now, with what they do. */
  keys(): readonly IKey[];
  /** How to read a plot, in the dashboard's own words. */
  fetchHelp(dashboard: string, plot: string): Promise<string>;
}

export const IPlotServices = new Token<IPlotServices>(
  TokenIDs.plots,
  'What it takes to draw a live plot of a dashboard.'
);
