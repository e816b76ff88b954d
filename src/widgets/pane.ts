/** A Lab tab with one plot: the picture, a thin toolbar, and its cards. */

import type { Message } from '@lumino/messaging';
import { Signal, type ISignal } from '@lumino/signaling';
import { PanelLayout, Widget } from '@lumino/widgets';

import type { Verb } from '../api/session';
import type { IBinding } from '../model/binding';
import { PANE_CLASS, TAB_CLASS } from '../tokens';
import { headingOf, shortSubjectOf, type ITable, type PlotArguments } from '../wire';
import { keysTable, paragraphs } from './card';
import { CardSlot } from './cardslot';
import { helpText } from './helptext';
import { frozenIcon, liveIcon, plotIcon } from './icons';
import { openMenuByKey } from './menukey';
import { paneButtons } from './panebuttons';
import { PlotView, type IPlotViewOptions } from './plotview';
import { saveBlob } from './save';
import type { IPlotServices } from './services';
import { TableCard, type IDownload } from './tablecard';
import { showTab } from './tabsight';
import { showTabTag } from './tag';
import { Toolbar } from './toolbar';
import { isKeyTaken } from './typing';

/** Esc clears nothing for this long after it left or closed something (ms). */
const SLIP_MS = 1000;

/** What a pane needs to come back after a page reload; plain JSON. */
export interface IPaneState {
  readonly plot: string;
  readonly key: string;
  readonly binding: IBinding;
  readonly arguments: PlotArguments;
}

export class Pane extends Widget {
  constructor(
    options: IPlotViewOptions,
    /** Names this pane among others, across reloads. */
    readonly key: string
  ) {
    super();
    this.addClass(PANE_CLASS);
    this.id = `dask-diag-lab-pane-${key}`;
    this._services = options.services;
    this.view = new PlotView(options);
    this._toolbar = this._makeToolbar();
    this._cards = new CardSlot(this.node, this._services.trans, () => this.view.activate());
    const layout = (this.layout = new PanelLayout());
    layout.addWidget(this.view);
    this.node.append(this._toolbar.node);
    this.title.closable = true;
    this.title.className = TAB_CLASS;
    // As Lab's shell does for what it adds itself; a drop goes past the shell.
    this.title.icon = plotIcon(this.view.plot).bindprops({ stylesheet: 'mainAreaTab' });
    this.title.dataset = { ...this.title.dataset, id: this.id };
    this.view.presented.connect(this._present, this);
    this.view.rebound.connect(this._remember, this);
    this.view.shown.connect(this._onShown, this);
    this._services.dashboards.changed.connect(this._present, this);
    this._present();
  }

  readonly view: PlotView;

  /** What has to be remembered changed. */
  get stateChanged(): ISignal<this, IPaneState> {
    return this._stateChanged;
  }

  get state(): IPaneState {
    const { plot, binding, arguments: given } = this.view;
    return { plot, key: this.key, binding, arguments: given };
  }

  /** Do what a key asks; Esc first leaves a field, then closes what lies over the picture. */
  send(verb: Verb): void {
    if (verb === 'clear' && this._isLeaving()) {
      this._leftAt = Date.now();
    } else {
      this.view.send(verb);
    }
  }

  /** Show or hide how to read the plot and which keys it has. */
  async toggleHelp(): Promise<void> {
    const { trans } = this._services;
    const { info, dashboard } = this.view;
    const sheet = this._cards.toggle('help', trans.__('How to read this'));
    if (sheet === null) {
      return;
    }
    const fetched =
      info.help ??
      (dashboard && (await this._services.fetchHelp(dashboard.id, info.name).catch(wordsOf)));
    const help = fetched || trans.__('There is no description of this plot.');
    const text = [info.description, help].filter(Boolean).join('\n\n');
    const keys = keysTable(trans.__('Keys of this pane'), this._services.keys());
    this._cards.fill(sheet, ...helpText(text), keys);
  }

  /** Show or hide the plot's data as a table. */
  async toggleTable(): Promise<void> {
    const { trans } = this._services;
    const sheet = this._cards.toggle('table', trans.__('%1 as a table', this.view.heading));
    if (sheet !== null) {
      await this._fillTable(sheet, null);
    }
  }

  /** Show the plot's data as a table, also where it is shown already. */
  async showTable(): Promise<void> {
    const heading = this._services.trans.__('%1 as a table', this.view.heading);
    await this._fillTable(this._cards.open('table', heading), null);
  }

  /** Save the picture as a PNG file; rejects with the reason when there is none. */
  async savePicture(): Promise<void> {
    saveBlob(await this.view.picture(), `${this.view.plot}.png`);
  }

  /** Open the plot's own page through the relay, where its dashboard is there. */
  openInBrowser(): void {
    const { dashboard, info } = this.view;
    if (dashboard !== undefined) {
      const url = this._services.pageUrl(dashboard.id, info, this.view.arguments);
      window.open(url, '_blank', 'noopener');
    }
  }

  /** Looks at each key before Lab does. */
  handleEvent(event: KeyboardEvent): void {
    const isHere = event.composedPath().includes(this.node);
    const isTyping = isHere && isKeyTaken(event);
    if (!isHere && event.key === 'Escape') {
      this._leftAt = Date.now(); // a menu of this pane is not in it
    }
    this.node.toggleAttribute('data-typing', isTyping);
    if (isHere && !isTyping) {
      const [inner] = event.composedPath(); // also inside Bokeh's shadow roots
      const refocus = (): void =>
        inner instanceof HTMLElement ? inner.focus() : this.view.activate();
      openMenuByKey(event, this.view.node, refocus);
    }
  }

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    Signal.disconnectReceiver(this);
    this._toolbar.dispose();
    super.dispose();
  }

  protected override onResize(msg: Widget.ResizeMessage): void {
    super.onResize(msg);
    this._toolbar.fit(msg.width < 0 ? this.node.offsetWidth : msg.width);
  }

  protected override onAfterAttach(msg: Message): void {
    super.onAfterAttach(msg);
    window.addEventListener('keydown', this, true);
  }

  protected override onBeforeDetach(msg: Message): void {
    super.onBeforeDetach(msg);
    window.removeEventListener('keydown', this, true);
  }

  protected override onAfterShow(msg: Message): void {
    super.onAfterShow(msg);
    // The bar is brought up to what it shows in a message that is still to come.
    requestAnimationFrame(() => showTab(this.id));
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    if (!this._cards.focus()) {
      this.view.activate();
    }
  }

  protected override onCloseRequest(msg: Message): void {
    super.onCloseRequest(msg);
    this.dispose();
  }

  /** Whether the picture does not follow live data: frozen or moved. */
  private get _isHeld(): boolean {
    return this.view.presentation.pill !== '';
  }

  private _makeToolbar(): Toolbar {
    const { trans } = this._services;
    const buttons = paneButtons(trans, {
      holdOrFollow: () => this.view.send(this._isHeld ? 'live' : 'freeze'),
      fit: () => this.view.send('fit'),
      toggleTable: () => void this.toggleTable(),
      savePicture: () =>
        void this.savePicture().catch((reason: unknown) => this._tell(wordsOf(reason))),
      toggleHelp: () => void this.toggleHelp(),
      openInBrowser: () => this.openInBrowser()
    });
    return new Toolbar(trans.__('Plot'), trans.__('More'), buttons);
  }

  /** Leave what Esc leaves first; true also for another press right after, which is a slip. */
  private _isLeaving(): boolean {
    if (this.node.hasAttribute('data-typing')) {
      this.view.activate();
    } else if (this._cards.isOpen) {
      this._cards.close();
    } else {
      return Date.now() - this._leftAt < SLIP_MS;
    }
    return true;
  }

  private _remember(): void {
    this._stateChanged.emit(this.state);
  }

  private _onShown(): void {
    this._present();
    this._remember();
  }

  private _present(): void {
    const { view, node } = this;
    const { trans } = this._services;
    const shown = view.presentation;
    node.dataset['plot'] = view.plot;
    node.dataset['dashboard'] = view.binding.dashboard;
    node.dataset['state'] = shown.state;
    this.title.label = headingOf(view.info.title, shortSubjectOf(view.arguments));
    this.title.caption = trans.__('%1 of %2', view.heading, view.dashboardName);
    showTabTag(this.title, view.dashboard, this._services.dashboards);
    const isHeld = this._isHeld;
    const label = isHeld ? trans.__('Follow live data (L)') : trans.__('Freeze (Space)');
    this._toolbar.set('live', label, isHeld ? liveIcon : frozenIcon, isHeld);
    const missing = view.dashboard === undefined ? this._missingWords() : '';
    this._toolbar.disable('table', missing);
    this._toolbar.disable('browser', missing);
  }

  /** Why there is no data: a cluster that is waited for is not one that is gone. */
  private _missingWords(): string {
    const { trans, dashboards } = this._services;
    if (this.view.isAwaited || !dashboards.isKnown) {
      return trans.__('Its cluster is not there yet');
    }
    return this.view.binding.dashboard === ''
      ? trans.__('%1 has no cluster at the moment', this.view.dashboardName)
      : trans.__('Its cluster is gone, and its data with it');
  }

  private async _fillTable(sheet: HTMLElement, last: TableCard | null): Promise<void> {
    const { trans } = this._services;
    const { info, dashboard, arguments: given, heading } = this.view;
    if (dashboard === undefined) {
      this._cards.fill(sheet, ...paragraphs(`${this._missingWords()}.`));
      return;
    }
    const { id } = dashboard;
    const table: ITable | string = await this._services
      .fetchTable(id, info.name, given)
      .catch(wordsOf);
    if (typeof table === 'string') {
      this._cards.fill(sheet, ...paragraphs(table));
      return;
    }
    const downloads: IDownload[] = (['csv', 'json'] as const).map(format => ({
      format,
      url: this._services.tableUrl(id, info.name, format, given),
      fileName: `${info.name}.${format}`
    }));
    const onRefresh = (): void => void this._fillTable(sheet, made);
    const order = last?.order ?? null;
    const made = new TableCard(table, { title: heading, downloads, trans, onRefresh, order });
    this._cards.fill(sheet, ...made.nodes);
  }

  private _tell(words: string): void {
    const made = this._cards.open('notice', this._services.trans.__('Not saved'));
    this._cards.fill(made, ...paragraphs(words));
  }

  private readonly _services: IPlotServices;
  private readonly _toolbar: Toolbar;
  private readonly _cards: CardSlot;
  private _leftAt = 0;
  private readonly _stateChanged = new Signal<this, IPaneState>(this);
}

function wordsOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
