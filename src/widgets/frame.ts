/**
 * A plot of Dask's own dashboard, in a frame that has no rights on Jupyter.
 *
 * What is in the frame draws in the scheduler and cannot be looked into: that it has ended is known
 * by what is known of its dashboard.
 */

import { IFrame } from '@jupyterlab/ui-components';

import type { IKnownDashboard } from '../dashboards/dashboards';
import type { IPlotSession } from '../plot/live';
import type { IBlocker } from '../plot/state';
import { Control, NO_ARGUMENTS } from '../protocol/control';
import { FRAME_CLASS } from '../tokens';
import { livePlot, PlotWidget, type IPlotOptions } from './plotwidget';
import type { IPlotServices } from './services';

/**
 * Scripts, new tabs for what a click leads to, saved pictures, for which Bokeh asks a name in a
 * dialog; neither cookies nor Jupyter's API.
 */
const RIGHTS = 'allow-scripts allow-popups allow-downloads allow-modals';
const SANDBOX = RIGHTS.split(' ') as IFrame.SandboxExceptions[]; // as Lab's type has them

/** The scheduler draws for a frame that nobody sees: after this it is taken away (ms). */
const UNSEEN_MS = 30_000;

/** How soon a pane is marked as the one in use after a click in its frame (ms). */
const WATCH_MS = 250;

export class FramePlot extends PlotWidget {
  constructor(options: IPlotOptions) {
    super(
      options,
      livePlot({ ...options, arguments: NO_ARGUMENTS }, (id, plot, _theme, _given, signal) =>
        openFrame(options.services, id, plot, signal)
      )
    );
  }

  protected override get isConnected(): boolean {
    return false;
  }

  protected override get knowsEnd(): boolean {
    return false;
  }

  protected override get owner(): string {
    // What is in a frame says what it shows, not whose it is.
    const { dashboard, dashboardName, services } = this;
    return dashboard?.shown_with === undefined
      ? services.trans.__('Dask’s dashboard of %1', dashboardName)
      : dashboardName;
  }

  protected override connect(dashboard: IKnownDashboard | undefined): void {
    // A frame does not come back by itself from what has cut it off: it is made anew.
    const { id, scheduler, state } = dashboard ?? {};
    const { connections } = this.services.dashboards;
    const target = state === 'unreachable' ? undefined : id;
    this.live.setTarget(target ?? null, [scheduler?.address, connections].join());
  }

  protected override blocker(): IBlocker | null {
    const { dashboards, trans } = this.services;
    const message = trans.__(
      'Dask’s own plots need websockets, which something between this browser and Jupyter, such as a proxy, does not let through.'
    );
    return super.blocker() ?? (dashboards.isAsking ? { state: 'stale', message } : null);
  }
}

/** Open a plot in a frame; rejects with the reason where it cannot be shown. */
async function openFrame(
  { dashboards, server, trans }: IPlotServices,
  id: string,
  plot: string,
  signal: AbortSignal
): Promise<IPlotSession> {
  await server.reach(id);
  const { shownName = '', plots = [] } = dashboards.get(id) ?? {};
  const info = plots.find(({ name }) => name === plot);
  if (info === undefined) {
    throw new Error(trans.__('%1 has no plot “%2”.', shownName, plot));
  }
  const title = trans.__('%1 of %2', trans.gettext(info.title), shownName);
  return new FrameSession(server.plotUrl(id, info, NO_ARGUMENTS), title, signal);
}

/** A frame while somebody sees it. */
class FrameSession implements IPlotSession {
  constructor(
    private readonly _url: string,
    private readonly _title: string,
    private readonly _signal: AbortSignal
  ) {
    this._frame.addClass(FRAME_CLASS);
  }

  isOpen = true;
  readonly isPictured = false;
  /** Dask's own plots have no caption. */
  readonly control = new Control({ state: 'live' });
  onChanged = nothing;
  onClosed = nothing;
  onLink = nothing;

  /** Resolves when the frame has its page. */
  draw(element: HTMLElement): Promise<void> {
    const page = this._frame.node.firstElementChild;
    page?.setAttribute('title', this._title);
    const loaded = new Promise<void>((resolve, reject) => {
      page?.addEventListener('load', () => resolve());
      this._signal.addEventListener('abort', reject);
    });
    this._frame.url = this._url;
    element.append(this._frame.node);
    return loaded;
  }

  setVisible(isVisible: boolean): void {
    clearTimeout(this._unseen);
    this._unseen = isVisible ? undefined : setTimeout(() => this.dispose(), UNSEEN_MS);
  }

  dispose(): void {
    clearTimeout(this._unseen);
    this.isOpen = false;
    this._frame.node.parentElement?.remove(); // without it there is no picture
    this._frame.dispose();
  }

  readonly setTheme = nothing;
  readonly select = nothing;
  readonly send = nothing;
  readonly snapshot = (): string => '';
  readonly picture = (): Promise<never> => Promise.reject(new Error(''));

  private readonly _frame = new IFrame({ sandbox: SANDBOX });
  private _unseen: ReturnType<typeof setTimeout> | undefined;
}

function nothing(): void {
  return;
}

/**
 * Mark the pane of a frame as the one in use once the frame has the focus.
 *
 * A click in a frame says nothing to Lab, which marks the pane in use by events of focus. Lab's
 * window loses the focus to the first frame, and hears nothing when it goes on to another one.
 */
export function watchFrames(): void {
  let watch: ReturnType<typeof setInterval> | undefined;
  let last: Element | null = null;
  const look = (): void => {
    const { activeElement } = document;
    if (activeElement !== last && activeElement?.closest(`.${FRAME_CLASS}`)) {
      activeElement.dispatchEvent(new FocusEvent('focus'));
    }
    last = activeElement;
  };
  window.addEventListener('blur', () => {
    clearInterval(watch);
    if (document.activeElement instanceof HTMLIFrameElement) {
      watch = setInterval(look, WATCH_MS);
    }
    look();
  });
  window.addEventListener('focus', () => {
    clearInterval(watch);
    last = null;
  });
}
