/** A Lab tab with one plot: the picture, a toolbar that shows on hover or focus, and what lies over it. */

import { showErrorMessage } from '@jupyterlab/apputils';
import { MenuSvg, ReactiveToolbar } from '@jupyterlab/ui-components';
import { MessageLoop } from '@lumino/messaging';
import { Panel, type Widget } from '@lumino/widgets';
import React from 'react';

import type { PlotArguments } from '../protocol/control';
import { h, messageOf } from '../text';
import { CommandIDs, PANE_CLASS, TAB_CLASS } from '../tokens';
import { FramePlot } from './frame';
import { plotIcon } from './icons';
import { helpContent, PaneOverlay, SHOWN_ROWS, tableContent } from './overlay';
import { PlotWidget, type IPlotOptions } from './plotwidget';

export abstract class Pane extends Panel {
  constructor(
    readonly content: PlotWidget,
    /** Names this pane among others, across reloads. */
    readonly key: string
  ) {
    super();
    const { node, services } = content;
    this.id = `dask-diag-lab-pane-${key}`;
    this.addClass(PANE_CLASS);
    this.title.closable = true;
    this.title.className = TAB_CLASS;
    // As Lab has it in tabs; what is dropped into its dock does not pass its shell.
    this.title.icon = plotIcon(content.plot).bindprops({ stylesheet: 'mainAreaTab' });
    this.toolbar.node.setAttribute('role', 'toolbar');
    this.toolbar.node.setAttribute('aria-label', services.trans.__('Plot'));
    this.addWidget(this.toolbar);
    this.addWidget(content);
    // A click beside what takes the focus is a use of the pane, too.
    const onPress = (): void => {
      if (!this.node.contains(document.activeElement)) {
        node.focus();
      }
    };
    this.node.addEventListener('mousedown', onPress, { capture: true });
    content.changed.connect(this._present, this);
    this._present();
  }

  /** Its items are in the settings; each acts on this pane. */
  readonly toolbar = new ReactiveToolbar({ noFocusOnClick: true });

  /** Shows what the pane showed before; null where a button of the toolbar leads nowhere. */
  get back(): (() => void) | null {
    return this._back;
  }

  set back(back: (() => void) | null) {
    this._back = back;
    this._notify(CommandIDs.goBack);
  }

  /** Show or hide how to read the plot. */
  async toggleHelp(): Promise<void> {
    const { info, services } = this.content;
    const { trans } = services;
    const overlay = this.toggle('help', trans.__('How to read this'));
    if (overlay !== null) {
      const help = await this.help().catch((reason: unknown) => messageOf(reason, trans));
      const text = [info.description, help].map(one => trans.gettext(one)).join('\n\n');
      overlay.content = helpContent(text);
    }
  }

  override dispose(): void {
    this._overlay?.dispose();
    super.dispose();
  }

  /** How to read the plot. */
  protected abstract help(): Promise<string>;

  /** Open an overlay in place of another; null where it was open, and is closed now. */
  protected toggle(name: string, title: string): PaneOverlay | null {
    const isOpen = this._overlay?.name === name;
    this._overlay?.dispose();
    if (isOpen) {
      return null;
    }
    const overlay = new PaneOverlay(name, title, this.content.services.trans);
    this._overlay = overlay;
    this.content.node.inert = true; // what lies under it does not get the focus
    overlay.disposed.connect(() => {
      this._overlay = null;
      this.content.node.inert = false;
      this.content.node.focus();
    });
    this.addWidget(overlay);
    overlay.node.focus();
    return overlay;
  }

  protected override onActivateRequest(): void {
    (this._overlay ?? this.content).node.focus();
  }

  protected override onCloseRequest(): void {
    this.dispose();
  }

  protected override onResize(msg: Widget.ResizeMessage): void {
    super.onResize(msg);
    MessageLoop.sendMessage(this.toolbar, msg); // it asks for a size, which a panel does not pass on
  }

  private _present(): void {
    const { content, node, title } = this;
    const { plot, binding, heading, dashboardName, services } = content;
    const { trans, dashboards } = services;
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
    const isFollowing = pill === '';
    if (isFollowing !== this._isFollowing) {
      this._isFollowing = isFollowing;
      this._notify(CommandIDs.freezePlot);
      this._notify(CommandIDs.followLive);
    }
  }

  /** Have the buttons of a command drawn anew. */
  private _notify(command: string): void {
    const { commands } = this.content.services;
    if (commands.hasCommand(command)) {
      commands.notifyCommandChanged(command);
    }
  }

  private _overlay: PaneOverlay | null = null;
  private _back: (() => void) | null = null;
  private _isFollowing = true;
}

/** Return a pane for a plot of ours, or of Dask's own, as its binding says. */
export function paneFor(options: IPlotOptions, key: string): Pane {
  const isFrame = options.binding.kind === 'stock';
  return isFrame
    ? new FramePane(new FramePlot(options), key)
    : new PlotPane(new PlotWidget(options), key);
}

/** A plot of Dask's own dashboard, which is used inside its frame. */
export class FramePane extends Pane {
  protected help(): Promise<string> {
    return Promise.resolve(
      this.content.services.trans.__(
        'This is a plot of Dask’s own dashboard. The scheduler draws it while somebody sees it.\n\n- The tools beside it: zoom, pan, go back and save a picture\n- A click: where Dask has a page of what was clicked, it opens in a browser tab\n\nHistory, tables and your theme come with the plots of dask_diag_lab: make a client of this cluster in a notebook, or run “import dask_diag_lab; dask_diag_lab.attach()” where there is one.'
      )
    );
  }
}

export class PlotPane extends Pane {
  /** Show or hide the plot's data as a table. */
  async toggleTable(): Promise<void> {
    const { heading, services } = this.content;
    const overlay = this.toggle('table', services.trans.__('%1 as a table', heading));
    if (overlay !== null) {
      await this._fillTable(overlay);
    }
  }

  /** Save the picture or the data as a file of this format; says why where there is none. */
  async save(format: string): Promise<void> {
    const { dashboard, live, plot, services } = this.content;
    const { trans, server } = services;
    try {
      const isPicture = format === 'png' || format === 'svg';
      const href = isPicture
        ? URL.createObjectURL(await live.picture(format))
        : dashboard && (await server.dataUrl(dashboard.id, plot, this._shown, format));
      if (href === undefined) {
        throw new Error(live.presentation.message);
      }
      h('a', { href, download: `${plot}.${format}` }).click();
      setTimeout(() => URL.revokeObjectURL(href), 0); // the download has begun by then
    } catch (reason) {
      await showErrorMessage(trans.__('Not saved'), messageOf(reason, trans));
    }
  }

  /** Open the menu of files below its button. */
  openSaveMenu(): void {
    const menu = new MenuSvg({ commands: this.content.services.commands });
    for (const format of this.content.live.formats) {
      menu.addItem({ command: CommandIDs.savePlot, args: { id: this.id, format } });
    }
    menu.aboutToClose.connect(() => this.content.node.focus());
    const button = this.toolbar.node.querySelector(`[data-command="${CommandIDs.savePlot}"]`);
    const { left, bottom } = (button ?? this.toolbar.node).getBoundingClientRect();
    menu.open(left, bottom);
  }

  protected async help(): Promise<string> {
    const { dashboard, plot, services } = this.content;
    return dashboard ? services.server.help(dashboard.id, plot) : '';
  }

  /** What is drawn, such as a stretch of time. */
  private get _shown(): PlotArguments {
    const { live } = this.content;
    return live.control?.tableArguments ?? live.arguments;
  }

  /** @param sort - the column that is sorted by, after a `-` from its largest value on. */
  private async _fillTable(overlay: PaneOverlay, sort = ''): Promise<void> {
    const { dashboard, live, plot, services } = this.content;
    const { trans, server } = services;
    if (dashboard === undefined) {
      overlay.content = <p>{live.presentation.message}</p>;
      return;
    }
    const fill = (next: string): void => void this._fillTable(overlay, next);
    try {
      const table = await server.table(dashboard.id, plot, this._shown, sort, SHOWN_ROWS);
      overlay.content = tableContent(
        table,
        trans,
        () => fill(sort),
        column => fill(sort === column ? `-${column}` : column)
      );
    } catch (reason) {
      overlay.content = <p>{messageOf(reason, trans)}</p>;
    }
  }
}
