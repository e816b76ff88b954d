/** A Lab tab with one plot: the picture, a toolbar that shows on hover or focus, and its cards. */

import { MainAreaWidget, showErrorMessage } from '@jupyterlab/apputils';
import {
  addToolbarButtonClass,
  downloadIcon,
  launchIcon,
  MenuSvg,
  ReactWidget,
  refreshIcon,
  Toolbar,
  ToolbarButton,
  ToolbarButtonComponent,
  undoIcon,
  type LabIcon
} from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import React from 'react';

import type { PlotArguments } from '../plot/control';
import { messageOf } from '../plot/text';
import { CommandIDs, PANE_CLASS, TAB_CLASS } from '../tokens';
import { Card, helpContent, SHOWN_ROWS, tableContent } from './card';
import { fitIcon, frozenIcon, helpIcon, liveIcon, plotIcon, tableIcon } from './icons';
import { PlotWidget, type IPlotWidgetOptions } from './plotwidget';

/** Dask's own plots have no help of their own. */
const STOCK_HELP =
  'This is a plot of Dask’s own dashboard. The scheduler draws it while somebody sees it.\n\n- The tools beside it: zoom, pan, go back and save a picture\n- A click: where Dask has a page of what was clicked, it opens in a browser tab\n\nHistory, tables and your theme come with the plots of dask_diag_lab: make a client of this cluster in a notebook, or run “import dask_diag_lab; dask_diag_lab.attach()” where there is one.';

export class Pane extends MainAreaWidget<PlotWidget> {
  constructor(
    options: IPlotWidgetOptions,
    /** Names this pane among others, across reloads. */
    readonly key: string
  ) {
    super({ content: new PlotWidget(options) });
    this._services = options.services;
    const { node } = this.content;
    this.id = `dask-diag-lab-pane-${key}`;
    this.addClass(PANE_CLASS);
    this.title.className = TAB_CLASS;
    // As Lab has it in tabs; what is dropped into its dock does not pass its shell.
    this.title.icon = plotIcon(options.plot).bindprops({ stylesheet: 'mainAreaTab' });
    this._live = this._addButtons();
    node.addEventListener('keydown', event => openMenuByKey(event, node));
    // A group with keys of its own, which MainAreaWidget takes for a region without.
    node.setAttribute('role', 'group');
    node.tabIndex = 0;
    this.content.changed.connect(this._present, this);
    this._present();
  }

  /** Show or hide how to read the plot and which keys it has. */
  async toggleHelp(): Promise<void> {
    const { trans, server } = this._services;
    const { info, dashboard, isStock } = this.content;
    const card = this._toggle('help', trans.__('How to read this'));
    if (card !== null) {
      const fetching =
        dashboard && !isStock ? server.help(dashboard.id, info.name) : Promise.resolve(STOCK_HELP);
      const help = await fetching.catch((reason: unknown) => messageOf(reason, trans));
      const text = [info.description, help].map(one => trans.__(one)).join('\n\n');
      const keys = isStock ? [] : this._services.keys(); // a frame keeps what is typed in it
      card.content = helpContent(text, trans.__('Keys of this pane'), keys);
    }
  }

  /** Show or hide the plot's data as a table. */
  async toggleTable(): Promise<void> {
    const { trans } = this._services;
    const card = this._toggle('table', trans.__('%1 as a table', this.content.heading));
    if (card !== null) {
      await this._fillTable(card);
    }
  }

  /** Save the picture or the data as a file of this format; says why where there is none. */
  async save(format: string): Promise<void> {
    const { trans, server } = this._services;
    const { dashboard, live, plot } = this.content;
    try {
      const isPicture = format === 'png' || format === 'svg';
      const href = isPicture
        ? URL.createObjectURL(await live.picture(format))
        : dashboard && (await server.dataUrl(dashboard.id, plot, this._shown, format));
      if (href === undefined) {
        throw new Error(live.presentation.message);
      }
      const link = document.createElement('a');
      Object.assign(link, { href, download: `${plot}.${format}` }).click();
      setTimeout(() => URL.revokeObjectURL(href), 0); // the download has begun by then
    } catch (reason) {
      await showErrorMessage(trans.__('Not saved'), messageOf(reason, trans));
    }
  }

  /** Open the plot's own page through the relay, where its dashboard is there. */
  openInBrowser(): void {
    const { commands } = this._services;
    this.activate(); // the command is about the pane in front
    void commands.execute(CommandIDs.openInBrowser);
  }

  /** Lead back to what was shown in this place before. */
  setBack(heading: string, onClick: () => void): void {
    const tooltip = this._services.trans.__('Back to %1', heading);
    this.toolbar.insertItem(1, 'back', new ToolbarButton({ icon: undoIcon, tooltip, onClick }));
  }

  override dispose(): void {
    this._card?.dispose();
    super.dispose();
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    this._card?.node.focus();
  }

  /** Fill the toolbar; returns the button that freezes. */
  private _addButtons(): ToolbarButton {
    const { trans } = this._services;
    const { live, isStock } = this.content;
    const frozen = new ToolbarButton({
      icon: frozenIcon,
      pressedIcon: liveIcon,
      tooltip: trans.__('Freeze (Space)'),
      pressedTooltip: trans.__('Follow live data (L)'),
      noFocusOnClick: true,
      onClick: () => {
        live.send(live.presentation.pill === '' ? 'freeze' : 'live');
        this._present(); // Lab shows the button pressed before the plot has answered
      }
    });
    this.toolbar.node.setAttribute('aria-label', trans.__('Plot'));
    this.toolbar.addItem('spacer', Toolbar.createSpacerItem());
    type Button = readonly [string, string, LabIcon, () => void];
    const own: readonly Button[] = [
      ['fit', trans.__('Fit (F)'), fitIcon, () => live.send('fit')],
      ['table', trans.__('Data as a table'), tableIcon, () => void this.toggleTable()],
      ['save', trans.__('Save…'), downloadIcon, () => this._openSaveMenu()]
    ];
    if (!isStock) {
      this.toolbar.addItem('live', frozen);
    }
    const buttons: readonly Button[] = [
      ...(isStock
        ? [['reload', trans.__('Reload'), refreshIcon, () => live.reload()] as const]
        : own),
      ['help', trans.__('How to read this (?)'), helpIcon, () => void this.toggleHelp()],
      ['browser', trans.__('Open in browser tab'), launchIcon, () => this.openInBrowser()]
    ];
    for (const [name, tooltip, icon, run] of buttons) {
      // Not a ToolbarButton, which a click turns on or off. Without the focus, which is the card's.
      const button = <ToolbarButtonComponent noFocusOnClick {...{ icon, tooltip, onClick: run }} />;
      this.toolbar.addItem(name, addToolbarButtonClass(ReactWidget.create(button)));
    }
    return frozen;
  }

  private _present(): void {
    const { content, node, title } = this;
    const { trans, dashboards } = this._services;
    const { plot, binding, heading, dashboardName } = content;
    const { state, pill } = content.live.presentation;
    Object.assign(node.dataset, { plot, dashboard: binding.dashboard, state });
    // Beside ours of the same name.
    const isSecond = content.dashboard?.shown_with !== undefined;
    title.label = isSecond ? trans.__('%1 (Dask)', heading) : heading;
    title.caption = trans.__('%1 of %2', heading, dashboardName);
    const tag = dashboards.tag(binding.dashboard);
    const { tag: letter, color, ...others } = title.dataset;
    if (letter !== tag?.letter || color !== tag?.color.toString()) {
      title.dataset = tag ? { ...others, tag: tag.letter, color: String(tag.color) } : others;
    }
    this._live.pressed = pill !== ''; // frozen, or moved
  }

  /** Open a card in place of another; null where it was open, and is closed now. */
  private _toggle(name: string, title: string): Card | null {
    const isOpen = this._card?.name === name;
    this._card?.dispose();
    if (isOpen) {
      return null;
    }
    const card = new Card(name, title, this._services.trans);
    this._card = card;
    this.content.node.inert = true; // what lies under it does not get the focus
    card.disposed.connect(() => {
      this._card = null;
      this.content.node.inert = false;
      this.content.node.focus();
    });
    Widget.attach(card, this.node);
    card.node.focus();
    return card;
  }

  /** Open the menu of files below its button. */
  private _openSaveMenu(): void {
    const menu = new MenuSvg({ commands: this._services.commands });
    for (const format of this.content.live.formats) {
      menu.addItem({ command: CommandIDs.savePlot, args: { format } });
    }
    this.activate(); // the command is about the pane in front
    menu.aboutToClose.connect(() => this.content.node.focus());
    const button = this.toolbar.node.querySelector('[data-jp-item-name="save"]');
    const { left = 0, bottom = 0 } = button?.getBoundingClientRect() ?? {};
    menu.open(left, bottom);
  }

  /** What is drawn, such as a stretch of time. */
  private get _shown(): PlotArguments {
    const { live } = this.content;
    return live.control?.tableArguments ?? live.arguments;
  }

  /** @param sort - the column that is sorted by, after a `-` from its largest value on. */
  private async _fillTable(card: Card, sort = ''): Promise<void> {
    const { trans, server } = this._services;
    const { dashboard, info, live } = this.content;
    if (dashboard === undefined) {
      card.content = <p>{live.presentation.message}</p>;
      return;
    }
    const fill = (next: string): void => void this._fillTable(card, next);
    try {
      const table = await server.table(dashboard.id, info.name, this._shown, sort, SHOWN_ROWS);
      card.content = tableContent(
        table,
        trans,
        () => fill(sort),
        column => fill(sort === column ? `-${column}` : column)
      );
    } catch (reason) {
      card.content = <p>{messageOf(reason, trans)}</p>;
    }
  }

  private readonly _services: IPlotWidgetOptions['services'];
  private readonly _live: ToolbarButton;
  private _card: Card | null = null;
}

/** Where the menu opens in an element (px). */
const INSET_PX = 20;

/**
 * Open the context menu of an element when the key asks for it; true when it did.
 *
 * The browser's own event for this key has Shift pressed, which Lab leaves to the browser's menu.
 * And a menu takes the focus, and leaves it to nobody: what had it gets it back.
 */
export function openMenuByKey(event: KeyboardEvent, element: Element): boolean {
  if (event.key !== 'F10' || !event.shiftKey) {
    return false;
  }
  event.preventDefault();
  event.stopPropagation();
  const focused = document.activeElement;
  const { left, top } = element.getBoundingClientRect();
  const at = { clientX: left + INSET_PX, clientY: top + INSET_PX };
  element.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true, ...at }));
  const menu = document.querySelector('body > .lm-Menu'); // Lumino puts them here while they are open
  const observer = new MutationObserver(() => {
    if (menu?.isConnected !== true) {
      observer.disconnect();
      if (document.activeElement === document.body && focused instanceof HTMLElement) {
        focused.focus();
      }
    }
  });
  observer.observe(document.body, { childList: true });
  return true;
}
