/** Tells in the panes of a notebook's older cluster that there is a newer one, and leads there. */

import type { WidgetTracker } from '@jupyterlab/apputils';

import { bindingOf, passing } from '../model/binding';
import type { IKnownDashboard } from '../model/dashboards';
import { newerOf } from '../model/newer';
import { NewerHint } from '../widgets/newerhint';
import type { Pane } from '../widgets/pane';
import type { IPlotServices } from '../widgets/services';
import { isSameArguments } from '../wire';

export class NewClusters {
  constructor(
    private readonly _services: IPlotServices,
    private readonly _panes: WidgetTracker<Pane>
  ) {
    _services.dashboards.changed.connect(this._update, this);
  }

  /** Watch for a pane until it is closed. Nothing leaves a cluster that lives without being told. */
  watch(pane: Pane): void {
    const { trans } = this._services;
    const { view } = pane;
    const hint = new NewerHint({
      trans,
      onShow: () => this._follow(pane),
      onStay: () => this._stay(pane)
    });
    view.node.append(hint.node);
    this._hints.set(pane, hint);
    view.rebound.connect(this._update, this);
    view.shown.connect(this._update, this);
    pane.disposed.connect(() => {
      this._hints.delete(pane);
      this._update();
    });
    this._update();
  }

  private _update(): void {
    for (const [pane, hint] of this._hints) {
      hint.show(this._newer(pane), this._services.dashboards);
    }
  }

  /** The newer cluster of a pane, unless it is on screen already or the pane stays with the old. */
  private _newer({ view }: Pane): IKnownDashboard | undefined {
    const { binding, plot } = view;
    const newer = newerOf(binding, plot, this._services.dashboards);
    const isOpen = this._panes.find(
      other =>
        other.view.plot === plot &&
        other.view.binding.dashboard === newer?.id &&
        isSameArguments(other.view.arguments, view.arguments)
    );
    return isOpen === undefined ? newer : undefined;
  }

  /** Show the newer cluster, also in the other panes of the old one; a picture that is held stays. */
  private _follow(pane: Pane): void {
    const free = this._panesOf(pane).filter(
      one => one === pane || one.view.presentation.pill === ''
    );
    // A pane that has gone there is open there: all are asked before the first goes.
    const moves = free.map(one => [one.view, this._newer(one)] as const);
    for (const [view, newer] of moves) {
      if (newer !== undefined) {
        view.follow(bindingOf(newer));
      }
    }
    pane.activate();
  }

  private _stay(pane: Pane): void {
    const newer = this._newer(pane);
    if (newer !== undefined) {
      this._panesOf(pane).forEach(({ view }) => view.follow(passing(view.binding, newer.id)));
    }
    pane.activate();
  }

  /** Those of the same cluster as one of them. */
  private _panesOf(pane: Pane): readonly Pane[] {
    const { dashboard } = pane.view.binding;
    return [...this._hints.keys()].filter(({ view }) => view.binding.dashboard === dashboard);
  }

  private readonly _hints = new Map<Pane, NewerHint>();
}
