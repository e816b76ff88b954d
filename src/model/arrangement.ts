/** In which order dashboards are listed and which of them are open: that of the notebook in front. */

import type { IKnownDashboard } from './dashboards';

/** What is known of the notebook in front. */
export interface IKernelInFront {
  readonly kernel: string | undefined;
  readonly isKnown: boolean;
}

/** What a list shows of its dashboards, by id. */
export class Arrangement {
  get order(): readonly string[] {
    return this._order;
  }

  /**
   * Bring the order up to the dashboards there are.
   *
   * While `isHeld`, a hand is in the list: what is there keeps its place and stays as open as it
   * is, and what is new comes last, open when it is of the notebook in front: nothing below it
   * could be moved. Else the dashboards of the notebook in front come first; a notebook without
   * any changes nothing, but that a closed cluster makes way for one that is not. Of several of one
   * notebook the newest comes first, and what has closed comes after what has not. Which of several is
   * open at first is settled once it is known what notebook is in front, and no hand is there.
   *
   * @param kernel - of the notebook in front, if any.
   * @param isKnown - whether that is so; it may be still to be seen.
   */
  update(
    all: readonly IKnownDashboard[],
    { kernel, isKnown }: IKernelInFront,
    isHeld: boolean
  ): void {
    const listed = closedLast(newestFirst(all));
    const ids = listed.map(one => one.id);
    const kept = this._order.filter(id => ids.includes(id));
    const inFront = listed
      .filter(one => kernel !== undefined && one.kernel_id === kernel)
      .map(one => one.id);
    if (isHeld && kept.length > 0) {
      this._front = [...this._front, ...inFront.filter(id => !kept.includes(id))];
      this._order = [...kept, ...ids.filter(id => !kept.includes(id))];
      return;
    }
    if (inFront.length > 0) {
      this._front = inFront;
    } else if ((isKnown || ids.length === 1) && !hasPlace(listed, this._front)) {
      this._front = ids.slice(0, 1);
    }
    const front = ids.filter(id => this._front.includes(id));
    this._order = [...front, ...ids.filter(id => !front.includes(id))];
  }

  /** True when its plots are listed: as the user left it, else when it is of the notebook in front. */
  isOpen(id: string): boolean {
    return this._choices.get(id) ?? this._front.includes(id);
  }

  toggle(id: string): void {
    this._choices.set(id, !this.isOpen(id));
  }

  private readonly _choices = new Map<string, boolean>();
  private _order: readonly string[] = [];
  private _front: readonly string[] = [];
}

/** Put those whose cluster closed behind all others. */
function closedLast(all: readonly IKnownDashboard[]): readonly IKnownDashboard[] {
  return [...all.filter(one => !isClosed(one)), ...all.filter(isClosed)];
}

/** Tell whether one of those in front may stay there: one that closed does, where all have. */
function hasPlace(all: readonly IKnownDashboard[], front: readonly string[]): boolean {
  const those = all.filter(one => front.includes(one.id));
  return those.some(one => !isClosed(one)) || (those.length > 0 && all.every(isClosed));
}

function isClosed({ state, closed_at }: IKnownDashboard): boolean {
  return state === 'stale' && closed_at !== undefined;
}

/** Turn round the order of those of each kernel, which share the places they have among all. */
function newestFirst(all: readonly IKnownDashboard[]): readonly IKnownDashboard[] {
  return all.map(one => {
    const kin = all.filter(other => other.kernel_id === one.kernel_id);
    const mirrored = kin[kin.length - 1 - kin.indexOf(one)];
    return one.kernel_id === null ? one : (mirrored ?? one);
  });
}
