/** The notebook in front: the one used last, also while something else has the focus. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { ISessionContext } from '@jupyterlab/apputils';
import type { INotebookTracker } from '@jupyterlab/notebook';
import { Signal, type ISignal } from '@lumino/signaling';

import type { IFront } from '../widgets/sidebarhost';
import { frontKernel, frontNotebook } from './ask';

/** A kernel that has not come by then, after the notebooks are there, is not waited for (ms). */
const PATIENCE_MS = 20_000;

export class NotebookInFront implements IFront {
  constructor(
    { restored, shell }: Pick<JupyterFrontEnd, 'restored' | 'shell'>,
    private readonly _notebooks: INotebookTracker | null
  ) {
    _notebooks?.currentChanged.connect(this._onCurrent, this);
    // Which notebooks are in sight changes with the tabs, whoever was used last.
    shell.currentChanged?.connect(this._onCurrent, this);
    void restored.then(() => this._onRestored());
    this._onCurrent();
  }

  get kernel(): string | undefined {
    return frontKernel(this._notebooks);
  }

  get isKnown(): boolean {
    const isReady = this._session === undefined || this._session.isReady || this._isLate;
    return this._isRestored && isReady;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  private _onRestored(): void {
    this._isRestored = true;
    setTimeout(() => {
      this._isLate = true;
      this._tell();
    }, PATIENCE_MS);
    this._onCurrent();
  }

  /** A notebook gets its kernel after it came to the front, and may get another one. */
  private _onCurrent(): void {
    const session = frontNotebook(this._notebooks)?.sessionContext;
    if (session !== this._session) {
      this._session?.kernelChanged.disconnect(this._tell, this);
      this._session = session;
      session?.kernelChanged.connect(this._tell, this);
      void session?.ready.then(() => this._tell()); // also one that gets no kernel
    }
    this._tell();
  }

  private _tell(): void {
    this._changed.emit();
  }

  private readonly _changed = new Signal<this, void>(this);
  private _session: ISessionContext | undefined;
  private _isRestored = false;
  private _isLate = false;
}
