/** A live plot of one of our dashboards, drawn in the page; for panes and for cells. */

import { Signal } from '@lumino/signaling';

import type { IKnownDashboard } from '../dashboards/dashboards';
import { LivePlot } from '../plot/live';
import { openSession } from '../plot/session';
import type { Presentation } from '../plot/state';
import {
  isSameArguments,
  NO_ARGUMENTS,
  type IOpening,
  type PlotArguments
} from '../protocol/control';
import { BoundPlot, type IPlotOptions } from './boundplot';

export class PlotWidget extends BoundPlot {
  constructor(
    options: IPlotOptions,
    readonly live = livePlot(options)
  ) {
    super(options, live.node);
    const { services } = options;
    live.onPresented = () => this.changed.emit();
    live.onOpening = opening => this.opened.emit(opening);
    services.lookChanged.connect(() => live.setLook(services.look), this);
    this.follow();
  }

  /** A click in the picture asked for another plot of the same dashboard. */
  readonly opened = new Signal<this, IOpening>(this);

  get presentation(): Presentation {
    return this.live.presentation;
  }

  get heading(): string {
    return this.live.heading;
  }

  get arguments(): PlotArguments {
    return this.live.arguments;
  }

  /** Show something else of the same plot, in place. */
  choose(given: PlotArguments): void {
    if (!isSameArguments(given, this.arguments)) {
      this.live.show(given);
      this.surround();
    }
  }

  reload(): void {
    this.live.reload();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this.live.dispose();
      super.dispose();
    }
  }

  protected connect(dashboard: IKnownDashboard | undefined): void {
    // Where the way to it changes it is connected anew; the last picture stays until then.
    this.live.setTarget(dashboard?.id ?? null, String(this.dashboard?.channel === undefined));
  }

  protected surround(): void {
    const { dashboards, trans } = this.options.services;
    const tag = dashboards.tag(this.binding.dashboard, this.dashboardName);
    const transport = this.dashboard?.channel ? trans.__('through the kernel’s messages') : '';
    this.live.setSurroundings({ ...this.around, transport }, '', tag);
  }

  protected get isFrozen(): boolean {
    return this.live.control?.isFrozen === true;
  }

  protected get isConnected(): boolean {
    return this.live.control !== null;
  }

  protected get knowsEnd(): boolean {
    // A plot of a kernel that stopped never hears of its end.
    const { state = 'closed' } = this.live.control ?? {};
    return state === 'closed' || state === 'lost';
  }
}

function livePlot({ plot, services, arguments: given }: IPlotOptions): LivePlot {
  const { look, trans, server, loader } = services;
  return new LivePlot({
    plot,
    arguments: given ?? NO_ARGUMENTS,
    look,
    trans,
    open: (id, name, colors, shown, signal) =>
      openSession(server.relayed(id), loader, trans, name, colors, shown, signal)
  });
}
