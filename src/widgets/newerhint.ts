/** A line below a picture: its notebook has a newer cluster, which the picture could show. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IDashboards, IKnownDashboard } from '../model/dashboards';
import { h } from './dom';
import { closeCardIcon } from './icons';
import { showTag } from './tag';

export interface INewerHintOptions {
  readonly trans: TranslationBundle;
  /** Says in which plots it is shown by one press. */
  readonly scope: string;
  /** Show the newer cluster. */
  readonly onShow: () => void;
  /** Stay with the own one, and do not ask again. */
  readonly onStay: () => void;
}

export class NewerHint {
  constructor({ trans, scope, onShow, onStay }: INewerHintOptions) {
    this._text.textContent = trans.__('Newer cluster in this notebook');
    this._text.title = this._text.textContent; // which ends where there is no more room
    this._show.textContent = trans.__('Show it');
    this._show.title = scope;
    this._show.addEventListener('click', onShow);
    this._stay.title = trans.__('Stay with this cluster');
    this._stay.setAttribute('aria-label', this._stay.title);
    closeCardIcon.element({ container: this._stay });
    this._stay.addEventListener('click', onStay);
    this.node.append(this._text, this._tag, this._show, this._stay);
    this.node.hidden = true;
  }

  readonly node = h('div', { class: 'jp-DaskDiag-newer', role: 'status' });

  /** Say that there is one, or nothing. */
  show(newer: IKnownDashboard | undefined, dashboards: IDashboards): void {
    this.node.hidden = newer === undefined;
    showTag(this._tag, newer, dashboards);
  }

  private readonly _text = h('span', {});
  private readonly _tag = h('span', { class: 'jp-DaskDiag-tag' });
  private readonly _show = h('button', { type: 'button', class: 'jp-DaskDiag-showNewer' });
  private readonly _stay = h('button', { type: 'button', class: 'jp-DaskDiag-toolbarButton' });
}
