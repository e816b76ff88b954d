/** What the sidebar needs from the application around it. */

import type { TranslationBundle } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';

import type { IDashboards } from '../model/dashboards';
import type { IFavorites } from '../model/favorites';
import type { IGroups } from '../model/groups';

export interface ISidebarHost {
  readonly dashboards: IDashboards;
  readonly favorites: IFavorites;
  readonly groups: IGroups;
  readonly trans: TranslationBundle;
  openPlot(dashboard: string, plot: string): void;
  openLayout(dashboard: string): void;
  createPane(dashboard: string, plot: string): Widget;
  /** A plot's code was dropped somewhere, perhaps as a cell. */
  onCodeDropped(code: string): void;
  openMenu(dashboard: string, anchor: HTMLElement): void;
  /** Put the code of a local cluster into the active notebook. */
  insertClient(): void;
}
