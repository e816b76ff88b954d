/** One live plot: connected, drawn with its caption, paused when unseen, never blank without a reason. */

import type { ITag } from '../dashboards/clusters';
import { headingOf } from '../protocol/control';
import type {
  Control,
  IPlotTheme,
  IPlotLink,
  IPlotControl,
  PlotArguments
} from '../protocol/control';
import { h, messageOf, type ITranslate } from '../text';
import { Caption } from './caption';
import type { PlotSession, PlotCommand } from './session';
import { NOTHING_YET, presentationOf, type IPlotContext, type ConnectionState } from './state';

/** Characters of a picture that is kept in a notebook: 60 kB. */
const LONGEST_SNAPSHOT = 80_000;

/** Waits between attempts double from the first to the longest (ms). */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 5000;
/** A connection that lasted so long is no failure: each makes the kernel build a document (ms). */
const STEADY_MS = 10_000;

/** What was drawn to its end. */
const PICTURE = '.jp-DaskDiag-canvas:not(.jp-mod-drawing)';

/** What is drawn, by whatever draws it. */
export type IPlotSession = Pick<PlotSession, keyof PlotSession>;

export interface ILivePlotOptions {
  readonly plot: string;
  readonly arguments: PlotArguments;
  readonly theme: IPlotTheme;
  readonly trans: ITranslate;
  /** Open the plot of the dashboard with this id, unless it is given up before. */
  open(
    dashboard: string,
    plot: string,
    theme: IPlotTheme,
    given: PlotArguments,
    signal: AbortSignal
  ): Promise<IPlotSession>;
}

export class LivePlot {
  constructor(private readonly _options: ILivePlotOptions) {
    this._theme = _options.theme;
    this.arguments = _options.arguments;
    this._caption = new Caption(
      _options.trans,
      () => this.send('live'),
      (name, value) => this._session?.send('set', { [name]: value }),
      () => this._session?.select(this.control?.chosen ?? null)
    );
    this.node = this._caption.node;
    document.addEventListener('visibilitychange', this._onVisibility);
    // Outputs scroll out of view, panes go behind others: nobody tells, but the browser.
    this._observer = new IntersectionObserver(entries => {
      this._isOnScreen = entries[entries.length - 1]?.isIntersecting ?? true;
      this._onVisibility();
    });
    this._observer.observe(this.node);
    this._ticker = setInterval(() => {
      const { elapsed, state } = this.presentation;
      if (this._isSeen && (elapsed !== '' || state === 'connecting')) {
        this._present(); // seconds are counted
      }
    }, 1000);
    this._present();
  }

  readonly node: HTMLElement;

  /** What is shown now. */
  presentation = NOTHING_YET;

  /** What it shows of many. */
  arguments: PlotArguments;

  /** Something that is shown, or follows from it, changed. */
  onPresented: () => void = () => undefined;
  /** A click in the picture asked for another plot. */
  onLink: (link: IPlotLink) => void = () => undefined;

  /** What the plot is called, with what it shows of many: `Profile: inc`. */
  get heading(): string {
    return headingOf(this._context.plotTitle, this.arguments, this._controls);
  }

  /** The files there are of what is shown. */
  get formats(): readonly string[] {
    const pictures = this._session?.isPictured ? ['png', 'svg'] : [];
    return [...pictures, ...(this.control?.formats ?? [])];
  }

  /** What the server says now; null without a connection. */
  get control(): Control | null {
    return this._connection.phase === 'open' ? this._connection.control : null;
  }

  /**
   * Connect to the plot of this dashboard from now on; null leaves the last picture as it is.
   *
   * @param epoch - connect anew when it changes, though the dashboard is the same.
   */
  setTarget(dashboard: string | null, epoch = ''): void {
    if (dashboard !== this._target || epoch !== this._epoch) {
      this._target = dashboard;
      this._epoch = epoch;
      this.reload();
    }
  }

  /** Connect anew; the last picture stays until then. */
  reload(): void {
    this._failures = 0;
    this._open();
  }

  /** Say what is around the plot: names, and what keeps it from its data. */
  setContext(context: IPlotContext, name: string, tag: ITag | null): void {
    this._context = context;
    this._caption.setTitles(name, tag);
    this._present();
  }

  setTheme(theme: IPlotTheme): void {
    this._theme = theme;
    this._session?.setTheme(theme);
    this._openAgain();
  }

  /** Pass a command on, where there is a connection; all plots go back to live together. */
  send(verb: PlotCommand): void {
    const { start, stop, run, ...others } = this.arguments;
    if (verb === 'live' && (start ?? stop ?? run) !== undefined) {
      this.show(others); // else its stretch of time would come back with the next one that ends
    }
    if (verb === 'live' && this.control?.period) {
      this._session?.select(null);
    } else {
      this._session?.send(verb);
    }
  }

  /** Show something else of the same plot: at once where it is connected, else when it is. */
  show(given: PlotArguments): void {
    this.arguments = given;
    this._session?.send('show', given);
    this._openAgain();
  }

  /** The picture; rejects with the reason when there is none. */
  picture(type: 'png' | 'svg' = 'png'): Promise<Blob> {
    const missing = this._options.trans.__('There is no picture yet.');
    const title = `${this.node.getAttribute('aria-label') ?? ''}: ${this._caption.headline}`;
    const picture = this._session?.picture(title, this._theme, type);
    return picture ?? Promise.reject(new Error(missing));
  }

  /**
   * What is shown now, by mime type: a line of text and a small picture; null when nothing is.
   *
   * @param last - the line of one that was kept: where only the time differs, its time is taken.
   */
  snapshot(last = ''): Readonly<Record<string, string>> | null {
    if (this._session === null) {
      return null;
    }
    const { headline, empty, closedAt } = this._session.control;
    const date = new Date(closedAt * 1000 || Date.now());
    const time = date.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });
    const [begin, end] = [`${this.heading} · `, ` · ${headline || empty}`];
    const isSame = last.startsWith(begin) && last.endsWith(end);
    // A narrow picture cuts off the end, and who converts the notebook sees nothing but the picture.
    const text = isSame ? last : begin + time + end;
    const image = this._session.snapshot(text, this._theme, LONGEST_SNAPSHOT);
    return { 'text/plain': text, ...(image && { 'image/png': image }) };
  }

  dispose(): void {
    this._isDisposed = true;
    this._attempt.abort();
    clearTimeout(this._retry);
    clearInterval(this._ticker);
    document.removeEventListener('visibilitychange', this._onVisibility);
    this._observer.disconnect();
    this._session?.dispose();
    this.onPresented = this.onLink = () => undefined;
  }

  private get _isSeen(): boolean {
    return this._isOnScreen && document.visibilityState !== 'hidden';
  }

  private readonly _onVisibility = (): void => {
    this._session?.setVisible(this._isSeen);
    const isGone = this._isSeen && this._connection.phase === 'open' && !this._session?.isOpen;
    if (this._connection.phase === 'none' || isGone) {
      this._open();
    }
    this._present();
  };

  /** Connect, once somebody sees the plot. */
  private _open(): void {
    clearTimeout(this._retry);
    this._attempt.abort();
    this._attempt = new AbortController();
    if (this._target === null || !this._isSeen) {
      this._setConnection({ phase: 'none' });
    } else {
      this._setConnection({ phase: 'opening', since: Date.now() });
      void this._try(this._target, this._attempt.signal);
    }
  }

  private async _try(target: string, signal: AbortSignal): Promise<void> {
    const { trans, plot, open } = this._options;
    const host = h('div', { class: 'jp-DaskDiag-canvas jp-mod-drawing' });
    let session: IPlotSession | null = null;
    try {
      session = await open(target, plot, this._theme, this.arguments, signal);
      if (!signal.aborted) {
        this._caption.stage.append(host);
        await session.draw(host);
        await (this._session && untilFilled(session));
      }
      if (signal.aborted || !session.isOpen) {
        throw new Error(trans.__('The connection ended while the plot was drawn.'));
      }
    } catch (error) {
      session?.dispose();
      host.remove();
      if (!signal.aborted) {
        this._fail(messageOf(error, trans));
      }
      return;
    }
    this._replaceSession(session, host);
  }

  /** Arguments or theme have changed since the plot that is being opened was asked for. */
  private _openAgain(): void {
    if (this._connection.phase === 'opening') {
      this._open();
    }
  }

  /** Show a picture that is ready in place of the one before, which stayed until now. */
  private _replaceSession(session: IPlotSession, host: HTMLElement): void {
    this._session?.dispose();
    this._session = session;
    this._drawn = this._target;
    this._openedAt = Date.now();
    host.classList.remove('jp-mod-drawing');
    // Not replaceChildren, which takes it out and in: a table would lose the widths of its columns,
    // which SlickGrid keeps in a style sheet that is made anew then.
    Array.from(this._caption.stage.children, child => child !== host && child.remove());
    // The picture of a cluster that was left stays on screen and says nothing any more.
    const whileOpen = (react: () => void) => () => this._connection.phase === 'open' && react();
    const setControl = (): void => this._setConnection({ phase: 'open', control: session.control });
    session.onChanged = whileOpen(setControl);
    session.onClosed = whileOpen(() => this._fail(this._options.trans.__('The connection ended.')));
    session.onLink = link => this.onLink(link);
    session.setVisible(this._isSeen);
    setControl();
  }

  private _fail(reason: string): void {
    if (this._connection.phase === 'open' && Date.now() - this._openedAt >= STEADY_MS) {
      this._failures = 0;
    }
    const wait = Math.min(FIRST_WAIT_MS * 2 ** this._failures, LONGEST_WAIT_MS);
    this._failures += 1;
    this._retry = setTimeout(() => this._open(), wait);
    this._setConnection({ phase: 'failed', reason, retryAt: Date.now() + wait });
  }

  private _setConnection(connection: ConnectionState): void {
    this._connection = connection;
    this._controls = connection.phase === 'open' ? connection.control.controls : this._controls;
    this._present();
  }

  private _present(): void {
    if (this._isDisposed) {
      return;
    }
    const { heading } = this;
    const hasPicture = this._caption.stage.querySelector(PICTURE) !== null;
    const situation = {
      ...this._context,
      plotTitle: heading,
      now: Date.now(),
      connection: this._connection,
      isSeen: this._isSeen,
      hasPicture,
      isLeft: this._drawn !== this._target
    };
    const shown = presentationOf(situation, this._options.trans);
    this.presentation = shown;
    const { state, isGreyed } = shown;
    Object.assign(this.node.dataset, { state, picture: hasPicture, greyed: isGreyed });
    this.node.setAttribute('aria-label', `${heading}, ${this._context.dashboardName}`);
    this._caption.show(this.control, heading, shown);
    this.onPresented();
  }

  private readonly _caption: Caption;
  private readonly _observer: IntersectionObserver;
  private readonly _ticker: ReturnType<typeof setInterval>;
  private _theme: IPlotTheme;
  private _context: IPlotContext = { plotTitle: '', dashboardName: '', blocker: null };
  private _connection: ConnectionState = { phase: 'none' };
  private _controls: readonly IPlotControl[] = [];
  private _session: IPlotSession | null = null;
  private _target: string | null = null;
  /** The dashboard whose picture is on screen. */
  private _drawn: string | null = null;
  private _epoch = '';
  private _attempt = new AbortController();
  private _failures = 0;
  private _openedAt = 0;
  private _isOnScreen = false;
  private _isDisposed = false;
  private _retry: ReturnType<typeof setTimeout> | undefined;
}

/** Wait until a plot has data of its cluster, or says why there is none: before, its picture is blank. */
function untilFilled(session: IPlotSession): Promise<void> {
  return new Promise(resolve => {
    const read = (): void => {
      if (session.control.state !== 'connecting' || !session.isOpen) {
        resolve();
      }
    };
    session.onChanged = session.onClosed = read;
    read();
  });
}
