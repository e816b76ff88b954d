/**
 * A plot of Dask's own dashboard, in a frame that has no rights on Jupyter.
 *
 * To the pane it is a session like those of our own plots. What is in the frame draws in the
 * scheduler and cannot be looked into: that it has ended is known by what is known of its dashboard.
 */

import type { IKnownDashboard } from '../api/dashboards';
import type { IPlot } from '../api/protocol';
import type { Server } from '../api/server';
import { Control, NO_ARGUMENTS } from '../plot/control';
import type { IPlotSession } from '../plot/live';
import { h } from '../plot/text';

/**
 * Scripts, new tabs for what a click leads to, saved pictures, for which Bokeh asks a name in a
 * dialog; neither cookies nor Jupyter's API.
 */
const SANDBOX = 'allow-scripts allow-popups allow-downloads allow-modals';

/** The scheduler draws for a frame that nobody sees: after this it is taken away (ms). */
const UNSEEN_MS = 30_000;

/** How soon a pane is marked as the one in use after a click in its frame (ms). */
const WATCH_MS = 250;

/** A page of a scheduler that is busy comes late (ms). */
const LOAD_TIMEOUT_MS = 60_000;

/** Make the frame of a plot; rejects with the reason in words where its dashboard cannot be shown. */
export async function openFrame(
  server: Server,
  { id, shownName }: IKnownDashboard,
  plot: IPlot
): Promise<IPlotSession> {
  const { trans } = server;
  await server.reach(id);
  const title = trans.__('%1 of %2', trans.__(plot.title), shownName);
  const late = trans.__('Its page does not arrive.');
  return new FrameSession(server.plotUrl(id, plot, NO_ARGUMENTS), title, late);
}

class FrameSession implements IPlotSession {
  constructor(
    src: string,
    title: string,
    private readonly _late: string
  ) {
    const attributes = { src, title, sandbox: SANDBOX, referrerpolicy: 'no-referrer' };
    this._frame = h('iframe', { class: 'jp-DaskDiag-frame', ...attributes });
    window.addEventListener('blur', this._onBlur);
    window.addEventListener('focus', this._onFocus);
  }

  readonly control = new Control({ state: 'live' });
  readonly isPictured = false; // Dask's own tools save it
  isOpen = true;
  onChanged = (): void => undefined;
  onClosed = (): void => undefined;
  onOpening = (): void => undefined;

  draw(element: HTMLElement): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(this._late)), LOAD_TIMEOUT_MS);
      this._frame.addEventListener('load', () => resolve(clearTimeout(timer)), { once: true });
      element.append(this._frame);
    });
  }

  setVisible(isVisible: boolean): void {
    clearTimeout(this._unseen);
    if (!isVisible) {
      this._unseen = setTimeout(() => {
        this.isOpen = false; // it is opened anew once it is seen again
        this._frame.remove();
      }, UNSEEN_MS);
    }
  }

  dispose(): void {
    this.isOpen = false;
    clearTimeout(this._unseen);
    window.removeEventListener('blur', this._onBlur);
    window.removeEventListener('focus', this._onFocus);
    clearInterval(this._watch);
    this._frame.remove();
  }

  /**
   * A click in a frame says nothing to Lab, which marks the pane in use by events of focus. Lab's
   * window loses it to the first frame, and hears nothing when it goes on to another one.
   */
  private readonly _onBlur = (): void => {
    this._onFocus();
    if (document.activeElement instanceof HTMLIFrameElement) {
      this._watch = setInterval(() => this._tellFocus(), WATCH_MS);
    }
    this._tellFocus();
  };

  private readonly _onFocus = (): void => {
    clearInterval(this._watch);
    this._isFocused = false;
  };

  private _tellFocus(): void {
    const isFocused = document.activeElement === this._frame;
    if (isFocused && !this._isFocused) {
      this._frame.dispatchEvent(new FocusEvent('focus'));
    }
    this._isFocused = isFocused;
  }

  private readonly _frame: HTMLIFrameElement;
  private _unseen: ReturnType<typeof setTimeout> | undefined;
  private _watch: ReturnType<typeof setInterval> | undefined;
  private _isFocused = false;
}
