/** What stands around a picture. */

import type { IDashboards, IKnownDashboard } from '../model/dashboards';
import type { IPresentation } from '../model/panestate';
import { h, setText } from './dom';
import { Stage } from './stage';
import { showTag } from './tag';

export class Frame {
  constructor(onLive: () => void) {
    this._pill.addEventListener('click', onLive);
    this._words.append(this._text, this._elapsed);
    this._head.append(this._tag, this._pill, this._title);
    this.nodes = [this._head, this.stage.node, this._words, this._note];
  }

  readonly stage = new Stage();

  /** In the order in which they lie below each other. */
  readonly nodes: readonly HTMLElement[];

  /** Say which of several dashboards it is of. */
  setDashboard(dashboard: IKnownDashboard | undefined, dashboards: IDashboards): void {
    showTag(this._tag, dashboard, dashboards);
  }

  /** Show a title of the picture's own, where it has one, or else what the plot is called. */
  setTitle(title: string): void {
    setText(this._title, title);
    this._title.title = title;
  }

  show(shown: IPresentation): void {
    setText(this._text, shown.words);
    setText(this._elapsed, shown.elapsed);
    setText(this._pill, shown.pill);
    setText(this._note, shown.note);
    this._note.title = shown.note;
    this._words.hidden = shown.words === '';
    this._pill.hidden = shown.pill === '';
    this._note.hidden = shown.note === '';
  }

  private readonly _head = h('div', { class: 'jp-DaskDiag-head' });
  private readonly _tag = h('span', { class: 'jp-DaskDiag-tag' });
  private readonly _title = h('span', { class: 'jp-DaskDiag-title' });
  private readonly _pill = h('button', { class: 'jp-DaskDiag-pill', type: 'button' });
  private readonly _words = h('div', { class: 'jp-DaskDiag-words' });
  private readonly _text = h('span', { role: 'status' });
  private readonly _elapsed = h('span', { class: 'jp-DaskDiag-elapsed' });
  private readonly _note = h('div', { class: 'jp-DaskDiag-note', role: 'note' });
}
