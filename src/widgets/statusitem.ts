/** A few words in the status bar: how many workers there are and what they do. */

import { Signal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

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
    const { dashboards, trans } = this._services;
    const live = dashboards.all.filter(one => one.state === 'live');
    const summaries = live.map(one => one.summary ?? null).filter(one => one !== null);
    const sum = (parts: readonly number[]): number => parts.reduce((a, b) => a + b, 0);
    const workers = sum(summaries.map(one => one.workers));
    const processing = sum(summaries.map(one => one.tasks.processing));
    this.node.hidden = live.length === 0;
    const words = [
      trans._n('%2 worker', '%2 workers', workers, formatCount(workers)),
      trans.__('%1 processing', formatCount(processing))
    ];
    setText(this._text, words.join(' · '));
    this._button.title = trans._n('%1 Dask cluster', '%1 Dask clusters', live.length);
  }

  private readonly _icon = h('span', { 'aria-hidden': 'true' });
  private readonly _text = h('span', {});
  private readonly _button = h('button', { type: 'button' });
}
