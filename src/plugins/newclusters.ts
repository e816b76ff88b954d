/** Tells in the plots of a notebook's older cluster that there is a newer one, and leads there. */

import { bindingOf, passing } from '../model/binding';
import type { IKnownDashboard } from '../model/dashboards';
import { newerOf } from '../model/newer';
import { NewerHint } from '../widgets/newerhint';
import type { PlotView } from '../widgets/plotview';
import type { IPlotServices } from '../widgets/services';
import { isSameArguments } from '../wire';

export class NewClusters {
  constructor(
    private readonly _services: IPlotServices,
    /** Says which plots follow together. */
    private readonly _scope: string
  ) {
    _services.dashboards.changed.connect(this._update, this);
  }

  /** Watch for a plot until it is closed. Nothing leaves a cluster that lives without being told. */
  watch(view: PlotView): void {
    const hint = new NewerHint({
      trans: this._services.trans,
      scope: this._scope,
      onShow: () => this._follow(view),
      onStay: () => this._stay(view)
    });
    view.node.append(hint.node);
    this._hints.set(view, hint);
    view.rebound.connect(this._update, this);
    view.shown.connect(this._update, this);
    view.disposed.connect(() => {
      this._hints.delete(view);
      this._update();
    });
    this._update();
  }

  private _update(): void {
    for (const [view, hint] of this._hints) {
      hint.show(this._newer(view), this._services.dashboards);
    }
  }

  /** The newer cluster of a plot, unless it is shown already or the plot stays with the old one. */
  private _newer({ binding, plot, arguments: given }: PlotView): IKnownDashboard | undefined {
    const newer = newerOf(binding, plot, this._services.dashboards);
    const isOpen = [...this._hints.keys()].some(
      other =>
        other.plot === plot &&
        other.binding.dashboard === newer?.id &&
        isSameArguments(other.arguments, given)
    );
    return isOpen ? undefined : newer;
  }

  /** Show the newer cluster, also in other plots of the old one; a picture that is held stays. */
  private _follow(view: PlotView): void {
    const free = this._plotsOf(view).filter(one => one === view || one.presentation.pill === '');
    // A plot that has gone there is open there: all are asked before the first goes.
    const moves = free.map(one => [one, this._newer(one)] as const);
    for (const [one, newer] of moves) {
      if (newer !== undefined) {
        one.follow(bindingOf(newer));
      }
    }
    view.activate();
  }

  private _stay(view: PlotView): void {
    const newer = this._newer(view);
    if (newer !== undefined) {
      this._plotsOf(view).forEach(one => one.follow(passing(one.binding, newer.id)));
    }
    view.activate();
  }

  /** Those of the same cluster as one of them. */
  private _plotsOf({ binding }: PlotView): readonly PlotView[] {
    return [...this._hints.keys()].filter(one => one.binding.dashboard === binding.dashboard);
  }

  private readonly _hints = new Map<PlotView, NewerHint>();
}
