/** The notebook in front: the one used last, also while something else has the focus. */

import type { INotebookTracker } from '@jupyterlab/notebook';
import { Signal, type ISignal } from '@lumino/signaling';

import type { IFront } from '../widgets/sidebarhost';
import { frontKernel } from './ask';

export class NotebookInFront implements IFront {
  constructor(private readonly _notebooks: INotebookTracker | null) {
    _notebooks?.currentChanged.connect(() => this._changed.emit(), this);
  }

  get kernel(): string | undefined {
    return frontKernel(this._notebooks);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  private readonly _changed = new Signal<this, void>(this);
}
