/** The notebook in front: the one used last, also while something else has the focus. */

import type { ISessionContext } from '@jupyterlab/apputils';
import type { INotebookTracker } from '@jupyterlab/notebook';
import { Signal, type ISignal } from '@lumino/signaling';

import type { IFront } from '../widgets/sidebarhost';
import { frontKernel } from './ask';

export class NotebookInFront implements IFront {
  constructor(private readonly _notebooks: INotebookTracker | null) {
    _notebooks?.currentChanged.connect(this._onCurrent, this);
    this._onCurrent();
  }

  get kernel(): string | undefined {
    return frontKernel(this._notebooks);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** A notebook gets its kernel after it came to the front, and may get another one. */
  private _onCurrent(): void {
    this._session?.kernelChanged.disconnect(this._tell, this);
    this._session = this._notebooks?.currentWidget?.sessionContext;
    this._session?.kernelChanged.connect(this._tell, this);
    this._tell();
  }

  private _tell(): void {
    this._changed.emit();
  }

  private readonly _changed = new Signal<this, void>(this);
  private _session: ISessionContext | undefined;
}
