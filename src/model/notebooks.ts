/** Which notebook a kernel belongs to; Jupyter's running sessions are the source. */

import type { Session } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import { Signal, type ISignal } from '@lumino/signaling';

/** Tells the path of a kernel's notebook. */
export interface INotebooks {
  readonly changed: ISignal<INotebooks, void>;
  pathOf(kernelId: string): string | null;
}

/** The notebooks of the running sessions, followed as they start, move and end. */
export class SessionNotebooks implements INotebooks, IDisposable {
  constructor(private readonly _sessions: Session.IManager) {
    _sessions.runningChanged.connect(this._onRunningChanged, this);
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** A path stays known after its session ended: the dashboard may outlive it a moment. */
  pathOf(kernelId: string): string | null {
    for (const session of this._sessions.running()) {
      if (session.kernel?.id === kernelId) {
        this._last.set(kernelId, session.path);
      }
    }
    return this._last.get(kernelId) ?? null;
  }

  dispose(): void {
    if (this._isDisposed) {
      return;
    }
    this._isDisposed = true;
    this._sessions.runningChanged.disconnect(this._onRunningChanged, this);
    Signal.clearData(this);
  }

  private _onRunningChanged(): void {
    this._changed.emit();
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _last = new Map<string, string>();
  private _isDisposed = false;
}
