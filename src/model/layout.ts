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
 * task stream over the progress on the right. The task stream comes first: where there is no room
 * for all, it is the tab in front.
 */
export const STATUS_PAGE: readonly ILayoutStep[] = [
  { plot: 'task-stream', mode: 'split-right', at: '' },
  { plot: 'workers-memory', mode: 'split-left', at: 'task-stream' },
  { plot: 'progress', mode: 'split-bottom', at: 'task-stream' },
  { plot: 'nprocessing', mode: 'split-bottom', at: 'workers-memory' },
  { plot: 'cpu', mode: 'tab-after', at: 'nprocessing' },
  { plot: 'occupancy', mode: 'tab-after', at: 'cpu' },
  { plot: 'workers-transfer-bytes', mode: 'tab-after', at: 'occupancy' },
  { plot: 'cluster-memory', mode: 'split-top', at: 'workers-memory' }
];

/**
 * Return the steps of a layout for a board, which is narrow and holds no notebook: what would be
 * side by side goes one below the other, and the first pane fills a board that `isEmpty`. What else
 * is placed at the notebook is placed at that pane.
 */
export function stacked(layout: readonly ILayoutStep[], isEmpty: boolean): readonly ILayoutStep[] {
  const first = layout[0]?.plot ?? '';
  return layout.map((step, i) =>
    isEmpty && i === 0
      ? { ...step, mode: 'tab-after' }
      : { ...step, mode: stackedMode(step.mode), at: step.at === '' && i > 0 ? first : step.at }
  );
}

/** Return how a pane is placed where there is no room beside another. */
export function stackedMode<Mode extends string>(mode: Mode): Mode | 'split-bottom' {
  return mode === 'split-right' || mode === 'split-left' ? 'split-bottom' : mode;
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
