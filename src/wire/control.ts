/** What a page and its plot say to each other through the document's control, checked. */

import { argumentsOf, type PlotArguments } from './arguments';
import { isText, type Fields } from './fields';

/** Colour scales of task prefixes: Dask's own, and one that is safe with colour blindness. */
export const PALETTES = ['viridis', 'okabe-ito'] as const;
export type Palette = (typeof PALETTES)[number];

/** Colours and font of the page, as the views take them; colours are `#rrggbb`. */
export interface ILook {
  readonly name: 'light' | 'dark' | 'high-contrast';
  readonly foreground: string;
  readonly muted: string;
  readonly grid: string;
  readonly background: string;
  readonly accent: string;
  readonly font: string;
  readonly font_size: string;
  /** Colours of task prefixes; dashboards that know only one leave it out of account. */
  readonly palette: Palette;
}

export type ControlState = 'live' | 'connecting' | 'degraded' | 'lost' | 'closed' | 'error';

/** What the server says about one page's picture, through the document's control. */
export interface IControl {
  readonly state: ControlState;
  readonly message: string;
  /** When the cluster closed, in s since the epoch; 0 before. */
  readonly closed_at: number;
  readonly empty: string;
  readonly note: string;
  readonly behind_s: number;
  /** The picture stays as it is, as was asked. */
  readonly frozen: boolean;
  /** What a click in the picture asked for last; null before any. */
  readonly open: IOpening | null;
}

/** Another plot of the same dashboard that a click in a picture asks for. */
export interface IOpening {
  readonly plot: string;
  readonly arguments: PlotArguments;
  /** Counts the requests of one page, so that the same one can be made twice. */
  readonly n: number;
}

const CONTROL_STATES: readonly ControlState[] = [
  'live',
  'connecting',
  'degraded',
  'lost',
  'closed',
  'error'
];

/** Return what a control model holds now; what it lacks counts as nothing to say. */
export function controlOf(model: object): IControl {
  const fields = model as Fields; // any object has string keys
  const text = (key: string): string => (isText(fields[key]) ? fields[key] : '');
  const positive = (key: string): number => {
    const given = fields[key];
    return typeof given === 'number' && given > 0 ? given : 0;
  };
  return {
    state: CONTROL_STATES.find(state => state === fields['state']) ?? 'connecting',
    message: text('message'),
    closed_at: positive('closed_at'),
    empty: text('empty'),
    note: text('note'),
    behind_s: positive('behind_s'),
    frozen: fields['frozen'] === true,
    open: openingOf(text('open'))
  };
}

/** Longer than any request that a view makes; what is longer is none. */
const MAX_OPENING = 100_000;

/** Return the plot that a control's `open` asks for, or null when it asks for none that can be. */
export function openingOf(text: string): IOpening | null {
  if (text === '' || text.length > MAX_OPENING) {
    return null;
  }
  const given = parsed(text);
  if (typeof given !== 'object' || given === null) {
    return null;
  }
  const { plot, arguments: asked, n } = given as Fields; // any object has string keys
  if (!isText(plot) || !isPlotName(plot) || typeof n !== 'number') {
    return null;
  }
  return { plot, arguments: argumentsOf(asked), n };
}

const PLOT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** True for what can be the name of a plot; such a name may stand in a Python string as it is. */
export function isPlotName(text: string): boolean {
  return PLOT_NAME.test(text);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) {
      return null;
    }
    throw error;
  }
}
