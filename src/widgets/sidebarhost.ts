/** What the sidebar needs from the application around it. */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISignal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

import type { IDashboards } from '../model/dashboards';
import type { IFavorites } from '../model/favorites';
import type { IGroups } from '../model/groups';

/** The notebook that is used, also while a pane or the sidebar has the focus. */
export interface IFront {
  readonly kernel: string | undefined;
  /** False while it is still to be seen which notebook that is, and what its kernel. */
  readonly isKnown: boolean;
  readonly changed: ISignal<IFront, void>;
}

export interface ISidebarHost {
  readonly dashboards: IDashboards;
  readonly favorites: IFavorites;
  readonly groups: IGroups;
  readonly trans: TranslationBundle;
  /** The notebook in front. */
  readonly front: IFront;
  openPlot(dashboard: string, plot: string): void;
  /** A plot is pressed, and about to be opened or dragged. */
  preparePlot(dashboard: string, plot: string): void;
  openLayout(dashboard: string): void;
  createPane(dashboard: string, plot: string): Widget;
  /** A plot's code was dropped somewhere, perhaps as the cell of this id. */
  onCodeDropped(dashboard: string, cell: string): void;
  openMenu(dashboard: string, anchor: HTMLElement): void;
  /** Put the code of a local cluster into the active notebook. */
  insertClient(): void;
}
