/** A layout in the room there is: what would be too small becomes a tab; pure. */

import type { ILayoutStep } from './layout';

/** A place, in px. */
export interface IRoom {
  readonly width: number;
  readonly height: number;
}

/** A place that is taken already. */
export interface ITakenPlace extends IRoom {
  /** What is in front there. */
  readonly id: string;
}

/** What there is around a notebook before a layout comes. */
export interface ISurroundings {
  /** The id of what is in front at the place of the notebook; '' where there is none. */
  readonly notebook: string;
  /** The notebook is not made narrower than this (px). */
  readonly notebookWidth: number;
  /** The places in sight that hold panes, the largest first, without that of the notebook. */
  readonly places: readonly ITakenPlace[];
  /** Where panes of the layout are open already, by plot, also behind other tabs. */
  readonly open: ReadonlyMap<string, ITakenPlace>;
}

/** A step of a layout in the room there is. */
export interface IFittedStep extends ILayoutStep {
  /** A pane at which it is placed instead, one that was there before. */
  readonly ref?: string;
  /** It is open, but where another pane of the layout or the notebook would hide it. */
  readonly isMoved?: true;
}

/** In less room than this a plot drops its labels, and then most of what it says. */
const LEAST: IRoom = { width: 260, height: 180 };

/** How much of a place the tabs above a pane take (px). */
const TABS_PX = 26;

/** Lines of code are read in this width (px). */
const READABLE_PX = 400;

/** How much a notebook keeps of a main area that has no room for that. */
const NOTEBOOK_SHARE = 0.4;

const NOTEBOOK = 0;
export const NOTHING_AROUND: ISurroundings = {
  notebook: '',
  notebookWidth: 0,
  places: [],
  open: new Map()
};

/** Return how wide a notebook is to stay in a main area of this width (px). */
export function readableWidth(mainWidth: number): number {
  return Math.min(READABLE_PX, NOTEBOOK_SHARE * mainWidth);
}

/**
 * Return the steps of a layout for the room there is: what would be too small is a tab instead, of
 * the place that lies there already, or else of the one that it would have divided. What would make
 * the notebook too narrow is a tab of the panes beside it, or lies below it where there are none.
 *
 * A pane that is open stays where it is, but at most one in each place and none at that of the
 * notebook: the others go where the layout has them. Where that is too small, another place of
 * panes is divided, or else a pane that is not of the layout is hidden.
 *
 * @param room - of the notebook, or of the main area where there is none; empty where it is unknown.
 */
export function fitted(
  layout: readonly ILayoutStep[],
  room: IRoom,
  around = NOTHING_AROUND
): readonly IFittedStep[] {
  if (room.width === 0 || room.height === 0) {
    return layout;
  }
  const fitting = new Fitting(room, around);
  return layout.map(step => fitting.place(step));
}

/** The places there are, step by step. Panes that are tabs of one place share its number. */
class Fitting {
  constructor(
    room: IRoom,
    private readonly _around: ISurroundings
  ) {
    this._rooms = [room];
    this._refOf.set(NOTEBOOK, _around.notebook);
    this._places = _around.places.map(place => this._numberOf(place));
    this._beside = this._places[0] ?? null;
  }

  place(step: ILayoutStep): IFittedStep {
    const open = this._around.open.get(step.plot);
    if (open === undefined) {
      return this._placeNew(step);
    }
    const there = this._numberOf(open);
    return there === NOTEBOOK || this._lastIn.has(there)
      ? { ...this._placeNew(step), isMoved: true }
      : this._put(step, there);
  }

  private _placeNew(step: ILayoutStep): IFittedStep {
    const place = this._placeOf.get(step.at) ?? NOTEBOOK;
    if (step.mode === 'tab-after') {
      return this._put(step, place);
    }
    const isTabOfNotebook = place === NOTEBOOK && this._around.notebook !== '';
    return step.at === '' || isTabOfNotebook ? this._atNotebook(step) : this._atPane(step, place);
  }

  private _atPane(step: ILayoutStep, place: number): IFittedStep {
    if (this._canSplit(place, step.mode)) {
      return this._split(step, place);
    }
    const near = this._neighbors.get(`${place} ${step.mode}`) ?? place;
    return this._elsewhere(step, place) ?? this._fold(step, near);
  }

  /** Place a pane where there were panes before; null where none of these places is free. */
  private _elsewhere(step: ILayoutStep, place: number): IFittedStep | null {
    const others = this._places.filter(other => other !== place);
    for (const mode of [step.mode, turned(step.mode)]) {
      const roomy = others.find(other => this._canSplit(other, mode));
      if (roomy !== undefined) {
        return this._split(this._joined(step, mode, roomy), roomy);
      }
    }
    const kept = [...this._around.open.values()].map(open => this._numberOf(open));
    const free = others.find(other => !this._lastIn.has(other) && !kept.includes(other));
    return free === undefined ? null : this._fold(step, free);
  }

  private _canSplit(place: number, mode: ILayoutStep['mode']): boolean {
    const { width, height } = halved(this._roomOf(place), mode);
    return width >= LEAST.width && height >= LEAST.height;
  }

  private _atNotebook(step: ILayoutStep): IFittedStep {
    const room = this._roomOf(NOTEBOOK);
    const { width } = halved(room, step.mode);
    if (width === room.width || width >= this._around.notebookWidth) {
      return this._split(step, NOTEBOOK);
    }
    if (this._beside !== null) {
      return this._fold(step, this._beside);
    }
    const isLow = halved(room, 'split-bottom').height < LEAST.height;
    return this._split(isLow ? step : { ...step, mode: 'split-bottom' }, NOTEBOOK);
  }

  private _split(step: ILayoutStep, place: number): IFittedStep {
    const half = halved(this._roomOf(place), step.mode);
    const own = this._rooms.push(half) - 1;
    this._rooms[place] = half;
    this._neighbors.set(`${place} ${step.mode}`, own);
    if (place === NOTEBOOK) {
      this._beside = own;
    }
    return this._put(step, own);
  }

  /** Tabs are in the order of the layout, after those that were there before. */
  private _fold(step: ILayoutStep, place: number): IFittedStep {
    const joined = this._joined(step, 'tab-after', place);
    this._put(step, place);
    return joined;
  }

  /** A step at what lies in a place last. */
  private _joined(step: ILayoutStep, mode: ILayoutStep['mode'], place: number): IFittedStep {
    const before = this._lastIn.get(place);
    const ref = before === undefined ? this._refOf.get(place) : undefined;
    return { ...step, mode, at: before ?? step.at, ...(ref === undefined ? {} : { ref }) };
  }

  private _put(step: ILayoutStep, place: number): IFittedStep {
    this._placeOf.set(step.plot, place);
    this._lastIn.set(place, step.plot);
    return step;
  }

  private _numberOf({ id, width, height }: ITakenPlace): number {
    const known = [...this._refOf].find(([, ref]) => ref === id)?.[0];
    const place = known ?? this._rooms.push({ width, height }) - 1;
    this._refOf.set(place, id);
    return place;
  }

  private _roomOf(place: number): IRoom {
    return this._rooms[place] ?? LEAST; // each number was made with a room
  }

  private readonly _rooms: IRoom[];
  /** By plot. */
  private readonly _placeOf = new Map<string, number>();
  private readonly _lastIn = new Map<number, string>();
  /** What a place was divided by, by its number and the mode. */
  private readonly _neighbors = new Map<string, number>();
  /** What was in front before, by place. */
  private readonly _refOf = new Map<number, string>();
  private readonly _places: readonly number[];
  /** Where panes are that do not take room from the notebook. */
  private _beside: number | null;
}

function turned(mode: ILayoutStep['mode']): ILayoutStep['mode'] {
  return mode === 'split-right' || mode === 'split-left' ? 'split-bottom' : 'split-right';
}

function halved({ width, height }: IRoom, mode: ILayoutStep['mode']): IRoom {
  switch (mode) {
    case 'split-left':
    case 'split-right':
      return { width: width / 2, height };
    case 'split-top':
    case 'split-bottom':
      return { width, height: (height - TABS_PX) / 2 };
    case 'tab-after':
      return { width, height };
  }
}
