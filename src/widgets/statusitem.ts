/** A few words in the status bar: how many workers there are, what they do, and what has failed. */

import type { LabIcon } from '@jupyterlab/ui-components';
import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type { IKnownDashboard } from '../model/dashboards';
import { formatCount } from '../model/format';
import { h, setText } from './dom';
import { diagIcon, warningIcon } from './icons';
import type { IPlotServices } from './services';

export class StatusItem extends Widget {
  constructor(
    private readonly _services: Pick<IPlotServices, 'dashboards' | 'trans'>,
    onClick: () => void,
    /** Shows the failures of these dashboards. */
    onErred: (dashboards: readonly IKnownDashboard[]) => void
  ) {
    super();
    this.addClass('jp-DaskDiag-status');
    this._button.append(iconOf(diagIcon), this._text);
    this._button.addEventListener('click', onClick);
    this._erred.append(iconOf(warningIcon), this._erredText);
    this._erred.addEventListener('click', () => onErred(this._live.filter(hasErred)));
    this.node.append(this._button, this._erred);
    _services.dashboards.changed.connect(this._update, this);
    this._update();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      Signal.disconnectReceiver(this);
      super.dispose();
    }
  }

  private get _live(): readonly IKnownDashboard[] {
    return this._services.dashboards.all.filter(one => one.state === 'live');
  }

  private _update(): void {
    const live = this._live;
    const { trans } = this._services;
    this.node.hidden = live.length === 0;
    const words = this._wordsOf(live);
    const { length } = live;
    setText(this._text, length > 1 ? trans.__('%1 clusters: %2', length, words) : words);
    const lines = live.map(one => `${one.shownName}: ${this._wordsOf([one])}`);
    const all = trans._n('%1 Dask cluster', '%1 Dask clusters together', length);
    this._button.title = [all, ...lines].join('\n');
    this._showErred(live.filter(hasErred));
  }

  private _showErred(those: readonly IKnownDashboard[]): void {
    const { trans } = this._services;
    const words = (count: number): string => trans.__('%1 erred', formatCount(count));
    this._erred.hidden = those.length === 0;
    setText(this._erredText, words(those.reduce((sum, one) => sum + erredOf(one), 0)));
    const lines = those.map(one => `${one.shownName}: ${words(erredOf(one))}`);
    this._erred.title = [trans.__('Show which tasks failed, and why'), ...lines].join('\n');
  }

  /** What dashboards have and do, together. */
  private _wordsOf(dashboards: readonly IKnownDashboard[]): string {
    const { trans } = this._services;
    const summaries = dashboards.map(one => one.summary ?? null).filter(one => one !== null);
    const sum = (parts: readonly number[]): number => parts.reduce((a, b) => a + b, 0);
    const workers = sum(summaries.map(one => one.workers));
    const processing = sum(summaries.map(one => one.tasks.processing));
    return [
      trans._n('%2 worker', '%2 workers', workers, formatCount(workers)),
      trans.__('%1 processing', formatCount(processing))
    ].join(' · ');
  }

  private readonly _text = h('span', {});
  private readonly _button = h('button', { type: 'button' });
  private readonly _erredText = h('span', {});
  private readonly _erred = h('button', { type: 'button', class: 'jp-DaskDiag-statusErred' });
}

function iconOf(icon: LabIcon): HTMLElement {
  const element = h('span', { 'aria-hidden': 'true' });
  icon.element({ container: element });
  return element;
}

/** How many of a dashboard's tasks have failed and are still held. */
function erredOf({ summary }: IKnownDashboard): number {
  return summary?.tasks.erred ?? 0;
}

function hasErred(one: IKnownDashboard): boolean {
  return erredOf(one) > 0;
}
