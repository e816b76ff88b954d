/** The service that opens panes, for the plugins that want plots on screen. */

import { Token } from '@lumino/coreutils';
import type { DockLayout } from '@lumino/widgets';

import { TokenIDs } from '../tokens';
import type { Pane } from '../widgets/pane';
import type { PlotArguments } from '../wire';

export interface IOpenOptions {
  readonly mode?: DockLayout.InsertMode;
  readonly ref?: string;
  /** A pane that is open already goes there too. */
  readonly isMoved?: boolean;
  /** False leaves the focus where it is. */
  readonly isActivated?: boolean;
  /** What to show of many; left out, a pane that shows a choice is not reused. */
  readonly arguments?: PlotArguments;
}

export interface IPanes {
  /** The pane that was used last. */
  readonly current: Pane | null;
  /** Those in sight: no other tab is in front of them. */
  readonly seen: readonly Pane[];
  /** Return the pane of a plot of a dashboard, opened where it is not yet. */
  open(plot: string, dashboard: string, options?: IOpenOptions): Pane;
  /** Put a pane beside what is in front, also one that is open elsewhere. */
  place(plot: string, dashboard: string, mode: DockLayout.InsertMode): Pane;
  /** Return a new pane that somebody else puts somewhere. */
  create(plot: string, dashboard: string): Pane;
  /** Bring a pane in front, and give it the focus. */
  activate(pane: Pane): Pane;
  /** Bring a pane in front of the tabs it is behind; the focus stays where it is. */
  reveal(pane: Pane): void;
  /** Return the pane of a plot of a dashboard that shows no choice of many. */
  find(plot: string, dashboard: string): Pane | undefined;
  /** Return the pane whose widget has this id. */
  get(id: string): Pane | undefined;
}

export const IPanes = new Token<IPanes>(TokenIDs.panes, 'Opens live Dask plots as panes.');
