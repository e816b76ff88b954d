/** A Lab tab with one plot: the picture, a thin toolbar, its cards, and whose it is. */

import type { Message } from '@lumino/messaging';
import { Signal, type ISignal } from '@lumino/signaling';
import { PanelLayout, Widget } from '@lumino/widgets';

import type { Verb } from '../api/session';
import type { IBinding } from '../model/binding';
import { PANE_CLASS } from '../tokens';
import { card, paragraphs, tableContent, type IDownload } from './card';
import { h } from './dom';
import {
  fitIcon,
  frozenIcon,
  helpIcon,
  liveIcon,
  pictureIcon,
  plotIcon,
  tabIcon,
  tableIcon
} from './icons';
import { PlotView } from './plotview';
import { saveBlob } from './save';
import type { IPlotServices } from './services';
import { showTag } from './tag';
import { Toolbar, type IToolbarButton } from './toolbar';

export interface IPaneOptions {
  readonly plot: string;
  readonly binding: IBinding;
  readonly services: IPlotServices;
}

/** What a pane needs to come back after a page reload; plain JSON. */
export interface IPaneState {
  readonly plot: string;
  readonly key: string;
  readonly binding: IBinding;
}

export class Pane extends Widget {
  constructor(
    options: IPaneOptions,
    /** Names this pane among others, across reloads. */
    readonly key: string
  ) {
    super();
    this.addClass(PANE_CLASS);
    this.id = `dask-diag-lab-pane-${key}`;
    this._services = options.services;
    this.view = new PlotView(options);
    this._toolbar = new Toolbar(this._services.trans.__('Plot'), this._buttons());
    const layout = (this.layout = new PanelLayout());
    layout.addWidget(this.view);
    this.node.append(this._tag, this._toolbar.node);
    this.title.closable = true;
    // As Lab's shell does for what it adds itself; a drop goes past the shell.
    this.title.icon = plotIcon(this.view.plot).bindprops({ stylesheet: 'mainAreaTab' });
    this.title.dataset = { ...this.title.dataset, id: this.id };
    this.node.addEventListener('focusin', event => this._onFocus(event));
    this.view.presented.connect(this._present, this);
    this.view.rebound.connect(() => this._stateChanged.emit(this.state), this);
    this._services.dashboards.changed.connect(this._present, this);
    this._present();
  }

  readonly view: PlotView;

  /** What has to be remembered changed. */
  get stateChanged(): ISignal<this, IPaneState> {
    return this._stateChanged;
  }

  get state(): IPaneState {
    return { plot: this.view.plot, key: this.key, binding: this.view.binding };
  }

  /** Do what a key asks; Esc first closes what lies over the picture. */
  send(verb: Verb): void {
    if (verb === 'clear' && this._card !== null) {
      this.closeCard();
      return;
    }
    this.view.send(verb);
  }

  /** Show or hide how to read the plot. */
  async toggleHelp(): Promise<void> {
    const { trans } = this._services;
    const { info, dashboard } = this.view;
    const sheet = this._openCard('help', trans.__('How to read this'));
    if (sheet === null) {
      return;
    }
    const fetched =
      info.help ??
      (dashboard && (await this._orReason(this._services.fetchHelp(dashboard.id, info.name))));
    const help = fetched || trans.__('There is no description of this plot.');
    const text = [info.description, help].filter(Boolean).join('\n\n');
    this._fillCard(sheet, paragraphs(text));
  }

  /** Show or hide the plot's data as a table. */
  async toggleTable(): Promise<void> {
    const { trans } = this._services;
    const { info, dashboard } = this.view;
    const sheet = this._openCard('table', trans.__('%1 as a table', info.title));
    if (sheet === null) {
      return;
    }
    if (dashboard === undefined) {
      this._fillCard(sheet, paragraphs(trans.__('The cluster is gone, and its data with it.')));
      return;
    }
    const table = await this._services.fetchTable(dashboard.id, info.name).catch(wordsOf);
    const downloads: IDownload[] = (['csv', 'json'] as const).map(format => ({
      format,
      url: this._services.tableUrl(dashboard.id, info.name, format),
      fileName: `${info.name}.${format}`
    }));
    const isText = typeof table === 'string';
    this._fillCard(sheet, isText ? paragraphs(table) : tableContent(table, downloads, trans));
  }

  /** Save the picture as a PNG file; rejects with the reason when there is none. */
  async savePicture(): Promise<void> {
    saveBlob(await this.view.picture(), `${this.view.plot}.png`);
  }

  /** Open the plot's own page through the relay, where its dashboard is there. */
  openInBrowser(): void {
    const { dashboard, info } = this.view;
    if (dashboard !== undefined) {
      window.open(this._services.pageUrl(dashboard.id, info), '_blank', 'noopener');
    }
  }

  /** Close what lies over the picture, which has the focus then. */
  closeCard(): void {
    this._removeCard();
    this.view.activate();
  }

  override dispose(): void {
    if (this.isDisposed) {
      return;
    }
    Signal.disconnectReceiver(this);
    super.dispose();
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    this.view.activate();
  }

  protected override onCloseRequest(msg: Message): void {
    super.onCloseRequest(msg);
    this.dispose();
  }

  /** Whether the picture does not follow live data: frozen or moved. */
  private get _isHeld(): boolean {
    return this.view.presentation.pill !== '';
  }

  private _buttons(): readonly IToolbarButton[] {
    const { trans } = this._services;
    return [
      {
        name: 'live',
        label: trans.__('Freeze (Space)'),
        icon: frozenIcon,
        run: () => this.view.send(this._isHeld ? 'live' : 'freeze')
      },
      { name: 'fit', label: trans.__('Fit (F)'), icon: fitIcon, run: () => this.view.send('fit') },
      {
        name: 'table',
        label: trans.__('Data as a table'),
        icon: tableIcon,
        run: () => void this.toggleTable()
      },
      {
        name: 'picture',
        label: trans.__('Save picture'),
        icon: pictureIcon,
        run: () => void this.savePicture().catch((reason: unknown) => this._tell(wordsOf(reason)))
      },
      {
        name: 'help',
        label: trans.__('How to read this (?)'),
        icon: helpIcon,
        run: () => void this.toggleHelp()
      },
      {
        name: 'browser',
        label: trans.__('Open in browser tab'),
        icon: tabIcon,
        run: () => this.openInBrowser()
      }
    ];
  }

  private _present(): void {
    const { view, node } = this;
    const { trans, dashboards } = this._services;
    const shown = view.presentation;
    node.dataset['plot'] = view.plot;
    node.dataset['dashboard'] = view.binding.dashboard;
    node.dataset['state'] = shown.state;
    this.title.label = view.info.title;
    this.title.caption = trans.__('%1 of %2', view.info.title, view.dashboardName);
    const isHeld = this._isHeld;
    const label = isHeld ? trans.__('Follow live data (L)') : trans.__('Freeze (Space)');
    this._toolbar.set('live', label, isHeld ? liveIcon : frozenIcon, isHeld);
    showTag(this._tag, view.dashboard, dashboards);
  }

  /** Letters typed into a field of the plot are no shortcuts: the schema's selector looks at this. */
  private _onFocus(event: FocusEvent): void {
    const inner = event.composedPath()[0];
    const isTyping =
      inner instanceof HTMLElement && inner.matches('input, textarea, select, [contenteditable]');
    this.node.toggleAttribute('data-typing', isTyping);
  }

  /** Open a card, or close it and return null when it is the one that is open. */
  private _openCard(name: string, title: string): HTMLElement | null {
    const isSame = this._card?.dataset['name'] === name;
    if (isSame) {
      this.closeCard();
      return null;
    }
    this._removeCard();
    const { trans } = this._services;
    const made = card(
      { title, trans, onClose: () => this.closeCard() },
      h('p', {}, trans.__('Loading…'))
    );
    made.dataset['name'] = name;
    this._card = made;
    this.node.append(made);
    made.focus();
    return made;
  }

  private _removeCard(): void {
    this._card?.remove();
    this._card = null;
  }

  private _fillCard(made: HTMLElement, content: HTMLElement[]): void {
    if (made === this._card && !this.isDisposed) {
      made.querySelector('.jp-DaskDiag-cardBody')?.replaceChildren(...content);
    }
  }

  private _tell(words: string): void {
    const made = this._openCard('notice', this._services.trans.__('Not saved'));
    if (made !== null) {
      this._fillCard(made, paragraphs(words));
    }
  }

  private _orReason(answer: Promise<string>): Promise<string> {
    return answer.catch(wordsOf);
  }

  private readonly _services: IPlotServices;
  private readonly _toolbar: Toolbar;
  private readonly _tag = h('span', { class: 'jp-DaskDiag-tag' });
  private readonly _stateChanged = new Signal<this, IPaneState>(this);
  private _card: HTMLElement | null = null;
}

function wordsOf(reason: unknown): string {
  return reason instanceof Error ? reason.message : String(reason);
}
