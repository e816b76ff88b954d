/** One live plot: connected, drawn with its caption, paused when unseen, never blank without a reason. */

import { Caption, type ITag } from './caption';
import {
  isSameArguments,
  type IControl,
  type ILook,
  type IOpening,
  type PlotArguments
} from './control';
import { h, innermost, isField } from './dom';
import type { PlotSession, Verb } from './session';
import { NOTHING_YET, presentationOf, type IPresentation, type ITrouble, type Link } from './state';
import { messageOf, type ITranslate } from './text';

/** Waits between attempts double from the first to the longest (ms). */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;

/** A connection that lasted this long was a good one; one that ends sooner is no success (ms). */
const STEADY_MS = 10_000;

export interface ILivePlotOptions {
  readonly plot: string;
  readonly arguments: PlotArguments;
  readonly look: ILook;
  readonly trans: ITranslate;
  /** Open the plot of the dashboard with this id. */
  open(dashboard: string, plot: string, look: ILook, given: PlotArguments): Promise<PlotSession>;
}

export class LivePlot {
  constructor(private readonly _options: ILivePlotOptions) {
    this._look = _options.look;
    this._arguments = _options.arguments;
    this._caption = new Caption({
      trans: _options.trans,
      onLive: () => this.send('live'),
      onSet: (name, value) => this._session?.send('set', { [name]: value })
    });
    this.node.append(...this._caption.nodes);
    this._watchFields();
    document.addEventListener('visibilitychange', this._onVisibility);
    // Outputs scroll out of view, panes go behind others: nobody tells, but the browser.
    this._observer = new IntersectionObserver(entries => {
      this._isOnScreen = entries[entries.length - 1]?.isIntersecting ?? true;
      this._onVisibility();
    });
    this._observer.observe(this.node);
    this._present();
  }

  readonly node = h('div', { class: 'jp-DaskDiag-plot', tabindex: '0', role: 'group' });

  /** Something that is shown, or follows from it, changed. */
  onPresented: () => void = () => undefined;
  /** A click in the picture asked for another plot. */
  onOpening: (opening: IOpening) => void = () => undefined;

  get presentation(): IPresentation {
    return this._presentation;
  }

  get arguments(): PlotArguments {
    return this._arguments;
  }

  /** What the server says now; null without a connection. */
  get control(): IControl | null {
    return this._link.phase === 'open' ? this._link.control : null;
  }

  /** Whether the user keeps the picture as it is. */
  get isFrozen(): boolean {
    return this._frozenSince > 0;
  }

  /** Connect to the plot of this dashboard from now on; null leaves the last picture as it is. */
  setTarget(dashboard: string | null): void {
    if (dashboard !== this._target) {
      if (this._target !== null && dashboard !== null) {
        this._frozenSince = 0; // another cluster's picture is not the one that was frozen
      }
      this._target = dashboard;
      this._failures = 0;
      this._open();
    }
  }

  /** Say what the plot and its dashboard are called, and which of several clusters that is. */
  setTitles(plotTitle: string, dashboardName: string, tag: ITag | null, name = ''): void {
    this._plotTitle = plotTitle;
    this._dashboardName = dashboardName;
    this._caption.setTag(tag);
    this._caption.setName(name);
    this.node.setAttribute('aria-label', `${plotTitle}, ${dashboardName}`);
    this._present();
  }

  /** Say what keeps the plot from its data, beside its own connection; null for nothing. */
  setTrouble(trouble: ITrouble | null): void {
    this._trouble = trouble;
    this._present();
  }

  setLook(look: ILook): void {
    this._look = look;
    this._session?.setLook(look);
    this._ground();
  }

  /** Pass a command on; without a connection, only what was frozen can be let go. */
  send(verb: Verb): void {
    if (this._link.phase === 'open') {
      this._session?.send(verb);
    } else if (verb === 'freeze' || verb === 'live') {
      this._frozenSince = 0;
      this._present();
    }
  }

  /** Show something else of the same plot: at once where it is connected, else when it is. */
  show(given: PlotArguments): void {
    if (!isSameArguments(given, this._arguments)) {
      this._arguments = given;
      this._session?.send('show', given);
      this._present();
    }
  }

  /** Try again now instead of at the next turn; for when something is known to have changed. */
  retry(): void {
    if (this._link.phase === 'failed' && this._isSeen) {
      this._failures = 0;
      this._open();
    }
  }

  /** The picture as PNG; rejects with the reason when there is none. */
  async picture(): Promise<Blob> {
    if (this._session === null) {
      throw new Error(this._options.trans.__('There is no picture yet.'));
    }
    return this._session.picture(this._caption.headline, this._look);
  }

  dispose(): void {
    this._isDisposed = true;
    clearTimeout(this._retry);
    clearInterval(this._ticker);
    document.removeEventListener('visibilitychange', this._onVisibility);
    this._observer.disconnect();
    this._session?.dispose();
    this._session = null;
    this.onPresented = this.onOpening = () => undefined;
  }

  private get _isSeen(): boolean {
    return this._isOnScreen && document.visibilityState !== 'hidden';
  }

  /** Keys belong to a field of the plot while one is used; Escape leads out of it. */
  private _watchFields(): void {
    const { node } = this;
    const update = (event: Event): void =>
      void node.toggleAttribute('data-lm-suppress-shortcuts', isField(innermost(event)));
    node.addEventListener('focusin', update);
    node.addEventListener('pointerdown', update);
    node.addEventListener('focusout', () => node.removeAttribute('data-lm-suppress-shortcuts'));
    node.addEventListener('contextmenu', event => {
      if (isField(innermost(event))) {
        event.stopPropagation(); // the browser's own menu, in which one pastes
      }
    });
    node.addEventListener('keydown', event => {
      if (event.key === 'Escape' && isField(innermost(event))) {
        event.stopPropagation();
        node.focus();
      }
    });
  }

  /** Connect once somebody sees the plot; while nobody does, a failed connection rests. */
  private readonly _onVisibility = (): void => {
    const isSeen = this._isSeen;
    this._session?.setVisible(isSeen);
    if (!isSeen) {
      clearTimeout(this._retry);
    } else if (this._link.phase === 'failed') {
      this.retry();
    } else if (this._link.phase === 'none') {
      this._open();
    }
    this._present();
  };

  private _open(): void {
    clearTimeout(this._retry);
    this._attempt += 1;
    if (this._target === null || !this._isSeen) {
      this._setLink({ phase: 'none' });
      return;
    }
    this._setLink({ phase: 'opening', since: Date.now() });
    void this._try(this._target, this._attempt);
  }

  private async _try(target: string, attempt: number): Promise<void> {
    const isOver = (): boolean => this._isDisposed || this._attempt !== attempt;
    const host = h('div', { class: 'jp-DaskDiag-canvas jp-mod-drawing' });
    const { _look: look, _arguments: given } = this;
    let session: PlotSession | null = null;
    try {
      session = await this._options.open(target, this._options.plot, look, given);
      if (!isOver()) {
        this._caption.stage.append(host);
        await session.draw(host);
      }
      if (isOver() || !session.isOpen) {
        throw new Error(this._options.trans.__('The connection ended while the plot was drawn.'));
      }
      this._adopt(session, host);
    } catch (error) {
      session?.dispose();
      host.remove();
      if (!isOver()) {
        this._fail(messageOf(error, this._options.trans));
      }
      return;
    }
    if (look !== this._look) {
      session.setLook(this._look);
    }
    if (!isSameArguments(given, this._arguments)) {
      session.send('show', this._arguments);
    }
  }

  /** Show a picture that is ready in place of the one before, which stayed until now. */
  private _adopt(session: PlotSession, host: HTMLElement): void {
    const last = this._session;
    this._session = session;
    host.classList.remove('jp-mod-drawing');
    // Not replaceChildren, which takes it out and in: a table would lose the widths of its columns,
    // which SlickGrid keeps in a style sheet that is made anew then.
    Array.from(this._caption.stage.children, child => child !== host && child.remove());
    this._ground();
    last?.dispose();
    session.onChanged = () => {
      // The picture of a cluster that was left stays on screen and says nothing any more.
      if (this._session === session && this._link.phase === 'open') {
        this._setLink({ phase: 'open', control: session.control });
      }
    };
    session.onOpening = opening => this.onOpening(opening);
    session.onClosed = () => {
      if (this._session === session && this._link.phase === 'open') {
        this._onClosed();
      }
    };
    if (this.isFrozen) {
      session.send('freeze'); // as it was before the connection ended
    }
    session.setVisible(this._isSeen);
    this._openedAt = Date.now();
    this._setLink({ phase: 'open', control: session.control });
  }

  /** The ground on which a picture was painted stays when the theme goes on without it. */
  private _ground(): void {
    if (this._session?.isOpen === true) {
      this._caption.stage.style.background = this._look.background;
    }
  }

  private _onClosed(): void {
    if (Date.now() - this._openedAt > STEADY_MS) {
      this._failures = 0;
    }
    this._fail(this._options.trans.__('The connection ended.'));
  }

  private _fail(reason: string): void {
    const doubled = Math.min(FIRST_WAIT_MS * 2 ** this._failures, LONGEST_WAIT_MS);
    const wait = doubled * (0.75 + 0.25 * Math.random()); // so that pages spread out
    this._failures += 1;
    clearTimeout(this._retry);
    if (this._isSeen) {
      this._retry = setTimeout(() => this._open(), wait);
    }
    this._setLink({ phase: 'failed', reason, retryAt: Date.now() + wait });
  }

  private _setLink(link: Link): void {
    this._link = link;
    if (link.phase === 'open') {
      this._frozenSince = link.control.isFrozen ? this._frozenSince || Date.now() : 0;
    }
    this._present();
  }

  private _present(): void {
    if (this._isDisposed) {
      return;
    }
    const hasPicture = this._session !== null;
    const situation = {
      now: Date.now(),
      plotTitle: this._plotTitle,
      dashboardName: this._dashboardName,
      trouble: this._trouble,
      link: this._link,
      isSeen: this._isSeen,
      hasPicture,
      frozenSince: this._frozenSince
    };
    const shown = presentationOf(situation, this._options.trans);
    this._presentation = shown;
    this.node.dataset['state'] = shown.state;
    this.node.dataset['picture'] = String(hasPicture);
    this.node.dataset['greyed'] = String(shown.isGreyed);
    this._caption.setControl(this.control, this._plotTitle);
    this._caption.show(shown);
    this._tick(this._isSeen && (shown.elapsed !== '' || shown.state === 'connecting'));
    this.onPresented();
  }

  /** Count the seconds while something is waited for and somebody looks. */
  private _tick(isWanted: boolean): void {
    if (isWanted) {
      this._ticker ??= setInterval(() => this._present(), 1000);
    } else {
      clearInterval(this._ticker);
      this._ticker = undefined;
    }
  }

  private readonly _caption: Caption;
  private readonly _observer: IntersectionObserver;
  private _look: ILook;
  private _arguments: PlotArguments;
  private _plotTitle = '';
  private _dashboardName = '';
  private _trouble: ITrouble | null = null;
  private _presentation: IPresentation = NOTHING_YET;
  private _link: Link = { phase: 'none' };
  private _session: PlotSession | null = null;
  private _target: string | null = null;
  private _attempt = 0;
  private _failures = 0;
  private _openedAt = 0;
  private _frozenSince = 0;
  private _isOnScreen = false;
  private _isDisposed = false;
  private _retry: ReturnType<typeof setTimeout> | undefined;
  private _ticker: ReturnType<typeof setInterval> | undefined;
}
