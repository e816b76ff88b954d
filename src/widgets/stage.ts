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
      if (other !== host && other !== this._kept && !other.classList.contains('jp-mod-drawing')) {
        other.remove();
      }
    }
  }

  /** The ground on which the picture was painted; it stays when the theme goes on without it. */
  ground(color: string): void {
    this.node.style.setProperty('--jp-DaskDiag-ground', color);
  }

  /** Show a picture from before in place of the one that is there; null for that one again. */
  keep(canvas: HTMLCanvasElement | null): void {
    if (canvas !== this._kept) {
      this._kept?.remove();
      this._kept = canvas;
      this.node.classList.toggle('jp-mod-kept', canvas !== null);
      if (canvas !== null) {
        canvas.classList.add('jp-DaskDiag-kept');
        this.node.append(canvas);
      }
    }
  }

  drop(host: HTMLElement): void {
    host.remove();
  }

  private _kept: HTMLCanvasElement | null = null;
}
