/** The place of a picture: the one shown, and unseen above it the one that is being drawn. */

import type { IStage } from '../model/plotlink';
import { h } from './dom';

export class Stage implements IStage {
  readonly node = h('div', { class: 'jp-DaskDiag-stage' });

  prepare(): HTMLElement {
    const host = h('div', { class: 'jp-DaskDiag-canvas jp-mod-drawing' });
    this.node.append(host);
    return host;
  }

  show(host: HTMLElement): void {
    host.classList.remove('jp-mod-drawing');
    for (const other of [...this.node.children]) {
      if (other !== host && !other.classList.contains('jp-mod-drawing')) {
        other.remove();
      }
    }
  }

  drop(host: HTMLElement): void {
    host.remove();
  }
}
