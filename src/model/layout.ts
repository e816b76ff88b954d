/** The usual arrangement of panes around a notebook, as data; pure. */

/** One pane of a layout: where it goes, relative to a pane named before it or to the notebook. */
export interface ILayoutStep {
  readonly plot: string;
  readonly mode: 'split-right' | 'split-left' | 'split-top' | 'split-bottom' | 'tab-after';
  /** The plot it is placed at; '' is the notebook, or the main area when there is none. */
  readonly at: string;
}

/** Task stream and progress on the right of the notebook, workers' memory and graph below them. */
export const USUAL_FOUR: readonly ILayoutStep[] = [
  { plot: 'task-stream', mode: 'split-right', at: '' },
  { plot: 'workers-memory', mode: 'split-bottom', at: 'task-stream' },
  { plot: 'progress', mode: 'split-right', at: 'task-stream' },
  { plot: 'graph', mode: 'split-right', at: 'workers-memory' }
];

/**
 * The panes of Dask's status page, as they lie there: memory and load of workers on the left, the
 * task stream over the progress on the right.
 */
export const STATUS_PAGE: readonly ILayoutStep[] = [
  { plot: 'workers-memory', mode: 'split-right', at: '' },
  { plot: 'task-stream', mode: 'split-right', at: 'workers-memory' },
  { plot: 'progress', mode: 'split-bottom', at: 'task-stream' },
  { plot: 'nprocessing', mode: 'split-bottom', at: 'workers-memory' },
  { plot: 'cpu', mode: 'tab-after', at: 'nprocessing' },
  { plot: 'occupancy', mode: 'tab-after', at: 'cpu' },
  { plot: 'cluster-memory', mode: 'split-top', at: 'workers-memory' }
];

/** A place, in px. */
export interface IRoom {
  readonly width: number;
  readonly height: number;
}

/** A picture in less room than this says little. */
const LEAST: IRoom = { width: 180, height: 140 };

/**
 * Return the steps of a layout for the room there is: what would be too small is a tab instead.
 *
 * @param room - of the notebook, or of the main area where there is none; empty where it is unknown.
 */
export function fitted(layout: readonly ILayoutStep[], room: IRoom): readonly ILayoutStep[] {
  if (room.width === 0 || room.height === 0) {
    return layout;
  }
  // Panes that are tabs of one place share its number, and so its room.
  const rooms = [room];
  const placeOf = new Map([['', 0]]);
  return layout.map(step => {
    const place = placeOf.get(step.at) ?? 0;
    const half = halved(rooms[place] ?? room, step.mode);
    const isSmall = half.width < LEAST.width || half.height < LEAST.height;
    // The notebook keeps its place for itself: the first pane beside it stays there.
    const mode = isSmall && step.at !== '' ? 'tab-after' : step.mode;
    if (mode === 'tab-after') {
      placeOf.set(step.plot, place);
    } else {
      rooms[place] = half;
      placeOf.set(step.plot, rooms.push(half) - 1);
    }
    return { ...step, mode };
  });
}

function halved({ width, height }: IRoom, mode: ILayoutStep['mode']): IRoom {
  switch (mode) {
    case 'split-left':
    case 'split-right':
      return { width: width / 2, height };
    case 'split-top':
    case 'split-bottom':
      return { width, height: height / 2 };
    case 'tab-after':
      return { width, height };
  }
}

const MODES = ['split-right', 'split-left', 'split-top', 'split-bottom', 'tab-after'] as const;

/** Return the layout that settings hold, without the steps that cannot be; ours when none is left. */
export function layoutOf(value: unknown): readonly ILayoutStep[] {
  const steps: ILayoutStep[] = [];
  for (const given of Array.isArray(value) ? value : []) {
    const { plot, mode, at } = Object(given); // any value has properties after Object()
    const known = MODES.find(one => one === mode);
    const reference = typeof at === 'string' ? at : '';
    const isPlaced = reference === '' || steps.some(step => step.plot === reference);
    if (typeof plot === 'string' && plot !== '' && known !== undefined && isPlaced) {
      steps.push({ plot, mode: known, at: reference });
    }
  }
  return steps.length > 0 ? steps : USUAL_FOUR;
}
