/**
 * A plot of Dask's own dashboard, in a frame that has no rights on Jupyter.
 *
 * What is in the frame draws in the scheduler and cannot be looked into: that it has ended is known
 * by what is known of its dashboard.
 */

import { IFrame } from '@jupyterlab/ui-components';

import type { IKnownDashboard } from '../dashboards/dashboards';
import { Caption } from '../plot/caption';
import { NOTHING_YET, presentationOf, type ITrouble, type Link } from '../plot/state';
import { Control, NO_ARGUMENTS } from '../protocol/control';
import { messageOf } from '../text';
import { FRAME_CLASS } from '../tokens';
import { BoundPlot, type IPlotOptions } from './boundplot';

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

/** How long after a failure it is tried again (ms). */
const RETRY_MS = 5000;

/** Dask's own plots have no caption. */
const CONTROL = new Control({ state: 'live' });

export class FramePlot extends BoundPlot {
  constructor(options: IPlotOptions) {
    const nothing = (): void => undefined;
    const caption = new Caption(options.services.trans, nothing, nothing);
    super(options, caption.node);
    this._caption = caption;
    document.addEventListener('visibilitychange', this._onSeen);
    this._observer = new IntersectionObserver(entries => {
      this._isOnScreen = entries[entries.length - 1]?.isIntersecting ?? true;
      this._onSeen();
    });
    this._observer.observe(this.node);
    this._ticker = setInterval(() => {
      const { elapsed, state } = this.presentation;
      if (this._isSeen && (elapsed !== '' || state === 'connecting')) {
        this.surround(); // seconds are counted
      }
    }, 1000);
    this.follow();
  }

  presentation = NOTHING_YET;

  readonly arguments = NO_ARGUMENTS;

  get heading(): string {
    return this.options.services.trans.gettext(this.info.title);
  }

  /** Make the frame anew, once somebody sees it; the last one stays where its dashboard is away. */
  reload(): void {
    clearTimeout(this._retry);
    this._link = { phase: 'none' };
    if (this._target !== '' && this._isSeen) {
      void this._open();
    }
    this.surround();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._close();
      clearTimeout(this._unseen);
      clearInterval(this._ticker);
      this._observer.disconnect();
      document.removeEventListener('visibilitychange', this._onSeen);
      super.dispose();
    }
  }

  protected readonly isFrozen = false;
  protected readonly isConnected = false;
  protected readonly knowsEnd = false;

  protected connect(dashboard: IKnownDashboard | undefined): void {
    // A frame does not come back by itself from what has cut it off: it is made anew.
    const { id, scheduler, state } = dashboard ?? {};
    const { connections } = this.options.services.dashboards;
    const isThere = dashboard !== undefined && state !== 'unreachable';
    const target = isThere ? [id, scheduler?.address, connections].join() : '';
    if (target !== this._target) {
      this._target = target;
      this.reload();
    }
  }

  protected surround(): void {
    const { dashboard, dashboardName, node } = this;
    const { dashboards, trans } = this.options.services;
    const { around, heading } = this;
    // What is in a frame says what it shows, not whose it is.
    const isNamed = dashboard?.shown_with !== undefined;
    const whose = isNamed ? dashboardName : trans.__('Dask’s dashboard of %1', dashboardName);
    this._caption.setTitles(whose, dashboards.tag(this.binding.dashboard, dashboardName));
    const { _isLoaded: hasPicture } = this;
    const seen = { isSeen: this._isSeen, hasPicture, isLeft: false, isStock: true };
    const situation = { ...around, ...seen, link: this._link, now: Date.now() };
    this.presentation = presentationOf(situation, trans);
    const { state, isGreyed } = this.presentation;
    Object.assign(node.dataset, { state, picture: hasPicture, greyed: isGreyed });
    node.setAttribute('aria-label', `${heading}, ${dashboardName}`);
    this._caption.show(CONTROL, heading, this.presentation);
    this.changed.emit();
  }

  protected override trouble(): ITrouble | null {
    const { dashboards, trans } = this.options.services;
    const message = trans.__(
      'Dask’s own plots need websockets, which something between this browser and Jupyter, such as a proxy, does not let through.'
    );
    return super.trouble() ?? (dashboards.isAsking ? { state: 'stale', message } : null);
  }

  private get _isSeen(): boolean {
    return this._isOnScreen && document.visibilityState !== 'hidden';
  }

  private readonly _onSeen = (): void => {
    clearTimeout(this._unseen);
    if (!this._isSeen) {
      this._unseen = setTimeout(() => {
        this._close();
        this.surround();
      }, UNSEEN_MS);
    } else if (this._link.phase === 'none') {
      this.reload();
    }
    this.surround();
  };

  private async _open(): Promise<void> {
    const { dashboard, info, heading, dashboardName } = this;
    const { server, trans } = this.options.services;
    this._close();
    const frame = new IFrame({ sandbox: SANDBOX });
    frame.addClass(FRAME_CLASS);
    frame.node.firstElementChild?.setAttribute(
      'title',
      trans.__('%1 of %2', heading, dashboardName)
    );
    frame.node.firstElementChild?.addEventListener('load', () =>
      this._setLink(frame, { phase: 'open', control: CONTROL })
    );
    this._frame = frame;
    this._link = { phase: 'opening', since: Date.now() };
    try {
      const { id = '' } = dashboard ?? {};
      await server.reach(id); // which says why where it cannot be shown
      frame.url = server.plotUrl(id, info, NO_ARGUMENTS);
      if (!frame.isDisposed) {
        this._caption.stage.append(frame.node);
      }
    } catch (error) {
      const retryAt = Date.now() + RETRY_MS;
      this._setLink(frame, { phase: 'failed', reason: messageOf(error, trans), retryAt });
    }
  }

  /** Say where a frame stands, unless another one has taken its place. */
  private _setLink(frame: IFrame, link: Link): void {
    if (frame === this._frame) {
      this._link = link;
      this._isLoaded = link.phase === 'open';
      this._retry = link.phase === 'failed' ? setTimeout(() => this.reload(), RETRY_MS) : undefined;
      this.surround();
    }
  }

  private _close(): void {
    clearTimeout(this._retry);
    this._frame?.node.remove();
    this._frame?.dispose();
    this._frame = null;
    this._isLoaded = false;
    this._link = { phase: 'none' };
  }

  private readonly _caption: Caption;
  private readonly _observer: IntersectionObserver;
  private readonly _ticker: ReturnType<typeof setInterval>;
  private _unseen: ReturnType<typeof setTimeout> | undefined;
  private _retry: ReturnType<typeof setTimeout> | undefined;
  private _frame: IFrame | null = null;
  private _isLoaded = false;
  private _link: Link = { phase: 'none' };
  private _target = '';
  private _isOnScreen = false;
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
