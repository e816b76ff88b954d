/** Which groups of plots are open in the list; told to whoever stores them. */

import { Signal, type ISignal } from '@lumino/signaling';

import { FAVOURITES } from './catalogue';

export interface IGroups {
  readonly changed: ISignal<IGroups, void>;
  isOpen(group: string): boolean;
  toggle(group: string): void;
}

/** With some forty plots a list of all is long; these are what one looks for first, or made. */
const OPEN_AT_FIRST: readonly string[] = [FAVOURITES, 'Tasks', 'Yours'];

export class Groups implements IGroups {
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The user opened or closed one: keep these choices. */
  get edited(): ISignal<this, Readonly<Record<string, boolean>>> {
    return this._edited;
  }

  isOpen(group: string): boolean {
    return this._choices.get(group) ?? OPEN_AT_FIRST.includes(group);
  }

  toggle(group: string): void {
    this._choices.set(group, !this.isOpen(group));
    this._changed.emit();
    this._edited.emit(Object.fromEntries(this._choices));
  }

  /** Take what was stored; choices made meanwhile stay, what is no choice is left out. */
  restore(stored: unknown): void {
    if (typeof stored !== 'object' || stored === null) {
      return;
    }
    for (const [group, isOpen] of Object.entries(stored).slice(0, MAX_GROUPS)) {
      if (typeof isOpen === 'boolean' && !this._choices.has(group)) {
        this._choices.set(group, isOpen);
      }
    }
    this._changed.emit();
  }

  private readonly _choices = new Map<string, boolean>();
  private readonly _changed = new Signal<this, void>(this);
  private readonly _edited = new Signal<this, Readonly<Record<string, boolean>>>(this);
}

const MAX_GROUPS = 100;
