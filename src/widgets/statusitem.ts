/** A few words in the status bar: how many workers there are and what they do. */

import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import type { IKnownDashboard } from '../model/dashboards';
import { formatCount } from '../model/format';
import { h, setText } from './dom';
import { diagIcon } from './icons';
import type { IPlotServices } from './services';

export class StatusItem extends Widget {
  constructor(
    private readonly _services: Pick<IPlotServices, 'dashboards' | 'trans'>,
    onClick: () => void
  ) {
    super();
    this.addClass('jp-DaskDiag-status');
    diagIcon.element({ container: this._icon });
    this._button.append(this._icon, this._text);
    this._button.addEventListener('click', onClick);
    this.node.append(this._button);
    _services.dashboards.changed.connect(this._update, this);
    this._update();
  }

  override dispose(): void {
    if (!this.isDisposed) {
      Signal.disconnectReceiver(this);
      super.dispose();
    }
  }

  private _update(): void {
    const live = this._services.dashboards.all.filter(one => one.state === 'live');
    const { trans } = this._services;
    this.node.hidden = live.length === 0;
    setText(this._text, this._wordsOf(live));
    const lines = live.map(one => `${one.shownName}: ${this._wordsOf([one])}`);
    const all = trans._n('%1 Dask cluster', '%1 Dask clusters together', live.length);
    this._button.title = [all, ...lines].join('\n');
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

  private readonly _icon = h('span', { 'aria-hidden': 'true' });
  private readonly _text = h('span', {});
  private readonly _button = h('button', { type: 'button' });
}
