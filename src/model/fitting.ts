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
  /** The id of the notebook; '' where none is in sight. */
  readonly notebook: string;
  /** The notebook is not made narrower than this (px). */
  readonly notebookWidth: number;
  /** The largest place beside the notebook that holds panes. */
  readonly beside: ITakenPlace | null;
  /** Where panes of the layout are open already, by plot, also behind other tabs; they stay there. */
  readonly open: ReadonlyMap<string, ITakenPlace>;
}

/** A step of a layout in the room there is. */
export interface IFittedStep extends ILayoutStep {
  /** A pane at which it is placed instead, one that was there before. */
  readonly ref?: string;
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
const NOTHING_AROUND: ISurroundings = {
  notebook: '',
  notebookWidth: 0,
  beside: null,
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
    this._beside = _around.beside && this._numberOf(_around.beside);
  }

  place(step: ILayoutStep): IFittedStep {
    const there = this._around.open.get(step.plot);
    const place = this._placeOf.get(step.at) ?? NOTEBOOK;
    if (there !== undefined) {
      return this._put(step, this._numberOf(there));
    }
    if (step.mode === 'tab-after') {
      return this._put(step, place);
    }
    const isTabOfNotebook = place === NOTEBOOK && this._around.notebook !== '';
    return step.at === '' || isTabOfNotebook ? this._atNotebook(step) : this._atPane(step, place);
  }

  private _atPane(step: ILayoutStep, place: number): IFittedStep {
    const { width, height } = halved(this._roomOf(place), step.mode);
    const isSmall = width < LEAST.width || height < LEAST.height;
    return isSmall
      ? this._fold(step, this._neighbors.get(`${place} ${step.mode}`) ?? place)
      : this._split(step, place);
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
    const before = this._lastIn.get(place);
    const ref = before === undefined ? this._refOf.get(place) : undefined;
    this._put(step, place);
    return {
      ...step,
      mode: 'tab-after',
      at: before ?? step.at,
      ...(ref === undefined ? {} : { ref })
    };
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
  /** Where panes are that do not take room from the notebook. */
  private _beside: number | null;
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
