/** A sidebar's surroundings that do nothing but what a test has them do. */

import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { Favorites } from '../model/favorites';
import { Groups } from '../model/groups';
import type { IFront, ISidebarHost } from '../widgets/sidebarhost';
import { DashboardList, trans } from './dashboards';

/** The notebook in front, as a test says. */
export class Front implements IFront {
  readonly changed = new Signal<this, void>(this);
  kernel: string | undefined;
  isKnown = true;

  set(kernel: string | undefined): void {
    this.kernel = kernel;
    this.changed.emit();
  }
}

export function sidebarHost(values: Partial<ISidebarHost> = {}): ISidebarHost {
  const nothing = (): void => undefined;
  return {
    dashboards: new DashboardList(),
    favorites: new Favorites(),
    groups: new Groups(),
    trans,
    front: new Front(),
    openPlot: nothing,
    preparePlot: nothing,
    openLayout: nothing,
    createPane: () => new Widget(),
    openMenu: nothing,
    insertClient: nothing,
    onCodeDropped: nothing,
    ...values
  };
}
