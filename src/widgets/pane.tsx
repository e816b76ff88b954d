/** A Lab tab with one plot: the picture, a toolbar that shows on hover or focus, and its cards. */

import { MainAreaWidget } from '@jupyterlab/apputils';
import { Toolbar, ToolbarButton, type LabIcon } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import { Widget } from '@lumino/widgets';
import React from 'react';

import { messageOf } from '../plot/text';
import { PANE_CLASS, TAB_CLASS } from '../tokens';
import { Card, DataTable, Help } from './card';
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
import { openMenuByKey } from './menukey';
import { PlotWidget, type IPlotWidgetOptions } from './plotwidget';

export class Pane extends MainAreaWidget<PlotWidget> {
  constructor(
    options: IPlotWidgetOptions,
    /** Names this pane among others, across reloads. */
    readonly key: string
  ) {
    super({ content: new PlotWidget(options) });
    this._services = options.services;
    const { trans } = this._services;
    this.id = `dask-diag-lab-pane-${key}`;
    this.addClass(PANE_CLASS);
    this.title.className = TAB_CLASS;
    this.title.icon = plotIcon(options.plot);
    this._live = new ToolbarButton({
      icon: frozenIcon,
      pressedIcon: liveIcon,
      tooltip: trans.__('Freeze (Space)'),
      pressedTooltip: trans.__('Follow live data (L)'),
      onClick: () => this.content.send(this.content.isHeld ? 'live' : 'freeze')
    });
    this._addButtons();
    this.content.node.addEventListener('keydown', event => openMenuByKey(event, this.content.node));
    // A group with keys of its own, which MainAreaWidget takes for a region without.
    this.content.node.setAttribute('role', 'group');
    this.content.node.tabIndex = 0;
    this.content.changed.connect(this._present, this);
    this._present();
  }

  /** Show or hide how to read the plot and which keys it has. */
  async toggleHelp(): Promise<void> {
    const { trans, server } = this._services;
    const card = this._toggle('help', trans.__('How to read this'));
    if (card === null) {
      return;
    }
    const { info, dashboard } = this.content;
    const fetching = dashboard ? server.help(dashboard.id, info.name) : Promise.resolve('');
    const help = await fetching.catch((reason: unknown) => messageOf(reason, trans));
    const text = [info.description, help || 'There is no description of this plot.'];
    const keys = this._services.keys();
    card.content = (
      <Help
        text={text.map(one => trans.__(one)).join('\n\n')}
        caption={trans.__('Keys of this pane')}
        keys={keys}
      />
    );
  }

  /** Show or hide the plot's data as a table. */
  async toggleTable(): Promise<void> {
    const { trans } = this._services;
    const card = this._toggle('table', trans.__('%1 as a table', this.content.heading));
    if (card !== null) {
      await this._fillTable(card);
    }
  }

  /** Save the picture as a PNG file; says why where there is none. */
  async savePicture(): Promise<void> {
    const { trans } = this._services;
    try {
      const url = URL.createObjectURL(await this.content.picture());
      const link = document.createElement('a');
      Object.assign(link, { href: url, download: `${this.content.plot}.png` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 0); // the download has begun by then
    } catch (reason) {
      this._open('notice', trans.__('Not saved')).content = <p>{messageOf(reason, trans)}</p>;
    }
  }

  /** Open the plot's own page through the relay, where its dashboard is there. */
  openInBrowser(): void {
    const { dashboard, info, arguments: given } = this.content;
    if (dashboard !== undefined) {
      const url = this._services.server.plotUrl(dashboard.id, info, given);
      window.open(url, '_blank', 'noopener');
    }
  }

  override dispose(): void {
    this._card?.dispose();
    super.dispose();
  }

  protected override onActivateRequest(msg: Message): void {
    super.onActivateRequest(msg);
    this._card?.node.focus();
  }

  private _addButtons(): void {
    const { trans } = this._services;
    const button = (label: string, icon: LabIcon, onClick: () => unknown): ToolbarButton =>
      new ToolbarButton({ icon, tooltip: label, onClick: () => void onClick() });
    const buttons = {
      spacer: Toolbar.createSpacerItem(),
      live: this._live,
      fit: button(trans.__('Fit (F)'), fitIcon, () => this.content.send('fit')),
      table: button(trans.__('Data as a table'), tableIcon, () => this.toggleTable()),
      picture: button(trans.__('Save picture'), pictureIcon, () => this.savePicture()),
      help: button(trans.__('How to read this (?)'), helpIcon, () => this.toggleHelp()),
      browser: button(trans.__('Open in browser tab'), tabIcon, () => this.openInBrowser())
    };
    Object.entries(buttons).forEach(([name, item]) => this.toolbar.addItem(name, item));
    this.toolbar.node.setAttribute('aria-label', trans.__('Plot'));
  }

  private _present(): void {
    const { content, node } = this;
    const { trans, dashboards } = this._services;
    node.dataset['plot'] = content.plot;
    node.dataset['dashboard'] = content.binding.dashboard;
    node.dataset['state'] = content.presentation.state;
    content.node.setAttribute('aria-label', `${content.heading}, ${content.dashboardName}`);
    this.title.label = content.heading;
    this.title.caption = trans.__('%1 of %2', content.heading, content.dashboardName);
    const tag = dashboards.tag(content.binding.dashboard);
    const { tag: shown, color, ...others } = this.title.dataset;
    if (shown !== tag?.letter || color !== (tag && String(tag.color))) {
      this.title.dataset = tag ? { ...others, tag: tag.letter, color: String(tag.color) } : others;
    }
    this._live.pressed = content.isHeld;
  }

  private _toggle(name: string, title: string): Card | null {
    if (this._card?.name === name) {
      this._card.dispose();
      return null;
    }
    return this._open(name, title);
  }

  /** Open a card in place of the one that is open; what lies under it does not get the focus. */
  private _open(name: string, title: string): Card {
    this._card?.dispose();
    const card = new Card(name, title, this._services.trans);
    this._card = card;
    this.content.node.inert = true;
    card.disposed.connect(() => {
      this._card = null;
      if (!this.isDisposed) {
        this.content.node.inert = false;
        this.content.activate();
      }
    });
    Widget.attach(card, this.node);
    card.node.focus();
    return card;
  }

  private async _fillTable(card: Card): Promise<void> {
    const { trans, server } = this._services;
    const { dashboard, info, tableArguments: given, missing } = this.content;
    if (dashboard === undefined) {
      card.content = <p>{missing}</p>;
      return;
    }
    try {
      const table = await server.table(dashboard.id, info.name, given);
      card.content = (
        <DataTable
          table={table}
          trans={trans}
          href={format => server.plotUrl(dashboard.id, info, given, `.${format}`)}
          onRefresh={() => void this._fillTable(card)}
        />
      );
    } catch (reason) {
      card.content = <p>{messageOf(reason, trans)}</p>;
    }
  }

  private readonly _services: IPlotWidgetOptions['services'];
  private readonly _live: ToolbarButton;
  private _card: Card | null = null;
}
