/** Tells in the panes of a notebook's older cluster that there is a newer one, and leads there. */

import type { WidgetTracker } from '@jupyterlab/apputils';

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

  /** The newer cluster of a pane, unless it is on screen already or the user stays with the old. */
  private _newer({ view }: Pane): IKnownDashboard | undefined {
    const { binding, plot } = view;
    const newer = newerOf(binding, plot, this._services.dashboards.all);
    const isOpen = this._panes.find(
      other =>
        other.view.plot === plot &&
        other.view.binding.dashboard === newer?.id &&
        isSameArguments(other.view.arguments, view.arguments)
    );
    const isDeclined = this._declined.has(`${binding.dashboard} ${newer?.id}`);
    return isOpen === undefined && !isDeclined ? newer : undefined;
  }

  /** Show the newer cluster, also in the other panes of the old one; a picture that is held stays. */
  private _follow(pane: Pane): void {
    const { dashboard } = pane.view.binding;
    for (const other of [...this._hints.keys()]) {
      const newer = this._newer(other);
      const isMeant =
        other === pane ||
        (other.view.binding.dashboard === dashboard && other.view.presentation.pill === '');
      if (newer !== undefined && isMeant) {
        other.view.showCluster(newer);
      }
    }
    pane.activate();
  }

  private _stay(pane: Pane): void {
    const newer = this._newer(pane);
    this._declined.add(`${pane.view.binding.dashboard} ${newer?.id}`);
    this._update();
    pane.activate();
  }

  private readonly _hints = new Map<Pane, NewerHint>();
  /** Pairs of an old and a newer cluster between which the user has chosen the old. */
  private readonly _declined = new Set<string>();
}
