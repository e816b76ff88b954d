/** What a page and its plot exchange: arguments, documents, the control model; checked. */

import { ProtocolError } from '../text';

/** The name of the second root of each plot's document. */
export const CONTROL_NAME = 'dask-diag-control';

export type Fields = Readonly<Record<string, unknown>>;

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Return the fields of an object; throw `ProtocolError` naming `where` for anything else. */
export function fieldsOf(value: unknown, where: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ProtocolError(where);
  }
  return value as Fields; // checked above: a plain object
}

/** Return a list, else throw. */
export function listOf(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value)) {
    throw new ProtocolError(where);
  }
  return value;
}

/** What a plot is to show of many, such as the profile of one prefix; an empty one chooses nothing. */
export type PlotArguments = Readonly<Record<string, string>>;

export const NO_ARGUMENTS: PlotArguments = {};

const ARGUMENT_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** Return the arguments in a value from outside, sorted, without what cannot be one. */
export function argumentsOf(value: unknown): PlotArguments {
  const pairs = Object.entries(Object(value) as object).filter(
    (pair): pair is [string, string] =>
      isText(pair[1]) && ARGUMENT_NAME.test(pair[0]) && pair[0] !== 'token'
  );
  return Object.fromEntries(pairs.sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function isSameArguments(one: PlotArguments, other: PlotArguments): boolean {
  return JSON.stringify(argumentsOf(one)) === JSON.stringify(argumentsOf(other));
}

/** Return a query of the arguments, with its question mark; '' for none. */
export function queryOf(given: PlotArguments): string {
  const query = new URLSearchParams(argumentsOf(given)).toString();
  return query === '' ? '' : `?${query}`;
}

/** Arguments that say what a picture is about; others, such as a range of time, say how much. */
const SUBJECTS = ['key', 'task', 'prefix', 'group', 'span', 'worker', 'name'];

/**
 * Return a plot's title with what its arguments choose: `Profile: inc`.
 *
 * @param controls - of the plot; they know the names of workers, which arguments have by address.
 */
export function headingOf(
  title: string,
  given: PlotArguments,
  controls: readonly IPlotControl[]
): string {
  const name = SUBJECTS.find(one => (given[one] ?? '') !== '');
  const value = given[name ?? ''] ?? '';
  const options = controls.find(one => one.name === name)?.options;
  const [, label = value] = options?.find(([one]) => one === value) ?? [];
  // All addresses begin with the same protocol.
  const subject = label.replace(/^[a-z+]+:\/\//, '').replace(/\s+/g, ' ');
  return subject === '' ? title : `${title}: ${subject}`;
}

const PLOT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** True for what can be the name of a plot; such a name may stand in a Python string as it is. */
export function isPlotName(text: string): boolean {
  return PLOT_NAME.test(text);
}

/** Colour scales of task prefixes: Dask's own, and one that is safe with colour blindness. */
export type Palette = 'viridis' | 'okabe-ito';

/** Colours and font of the page, as `look` on the wire; colours are `#rrggbb`. */
export interface IPlotTheme {
  readonly name: 'light' | 'dark' | 'high-contrast';
  readonly foreground: string;
  readonly muted: string;
  readonly grid: string;
  readonly background: string;
  readonly accent: string;
  readonly font: string;
  readonly font_size: string;
  readonly palette: Palette;
  /** The reader's time zone, such as `Europe/Berlin`. */
  readonly zone: string;
}

/** What the colours of a legend are drawn as; a shape that is not named here is filled. */
export const LEGEND_MARKS: Readonly<Record<string, string>> & { readonly fill: string } = {
  fill: '■',
  hatch: '▨',
  outline: '□',
  line: '━',
  dash: '┅',
  circle: '●',
  diamond: '◆'
};

export interface ILegendItem {
  readonly label: string;
  readonly color: string;
  readonly shape: string;
  readonly alpha: number;
}

/** Something the reader can set; the kinds are explained in `views/view.py`. */
export interface IPlotControl {
  readonly name: string;
  readonly kind: 'select' | 'button' | 'text';
  readonly label: string;
  readonly value: string;
  readonly options: readonly (readonly [string, string])[];
  readonly placeholder: string;
}

/** Another plot of the same dashboard that a click in a picture asks for. */
export interface IPlotLink {
  readonly plot: string;
  readonly arguments: PlotArguments;
  /** Counts the requests of one page, so that the same one can be made twice. */
  readonly n: number;
}

/** A stretch of time, in s since the epoch by the scheduler's clock. */
export interface IPeriod {
  readonly start: number;
  readonly stop: number;
}

/** What all plots of a page show: a run, by its number, or a stretch of time. */
export type ISelection = IPeriod | { readonly run: number };

const STATES = ['connecting', 'live', 'degraded', 'lost', 'closed', 'error'] as const;

/** What the server says about one page's picture: its state, and the caption around it. */
export class Control {
  /** @param _model - the control model; what it lacks counts as nothing to show. */
  constructor(private readonly _model: object) {}

  readonly state = STATES.find(state => state === this._text('state')) ?? 'connecting';
  readonly message = this._text('message');
  /** When the cluster closed, in s since the epoch; 0 before. */
  readonly closedAt = this._number('closed_at');
  readonly headline = this._text('headline');
  readonly legend = this._list<ILegendItem>('legend');
  readonly controls = this._list<IPlotControl>('controls');
  readonly facts = this._list<readonly [string, string]>('facts');
  readonly empty = this._text('empty');
  readonly note = this._text('note');
  readonly behind_s = this._number('behind_s');
  /** What all plots of the page are to show, and whether this one does; null where each decides. */
  readonly period = this._object<{ readonly text: string; readonly is_shown: boolean }>('period');
  /** Another stretch that the reader has chosen in the picture. */
  readonly chosen = this._object<IPeriod & { readonly text: string }>('chosen');
  readonly isFrozen = this._field('frozen') === true;
  /** What a table of the picture is asked with, such as the stretch of time that it shows. */
  readonly tableArguments = argumentsOf(parsed(this._text('table')));
  /** Endings of the files of its data, such as `csv`. */
  readonly formats = this._text('formats').split(' ').filter(Boolean);
  /** What a click in the picture asked for last; null before any. */
  readonly open = plotLinkOf(this._text('open'));

  private _field(key: string): unknown {
    return (this._model as Fields)[key]; // any object has string keys
  }

  private _text(key: string): string {
    const value = this._field(key);
    return isText(value) ? value : '';
  }

  private _number(key: string): number {
    return Math.max(Number(this._field(key)) || 0, 0);
  }

  /** A list of the kernel's own, written by `server/control.py` from declared classes. */
  private _list<T>(key: string): readonly T[] {
    return this._object<T[]>(key) ?? [];
  }

  private _object<T>(key: string): T | null {
    return parsed(this._text(key)) as T | null;
  }
}

/** Return the plot that a control's `open` asks for, or null when it asks for none that can be. */
export function plotLinkOf(text: string): IPlotLink | null {
  const { plot, arguments: asked, n } = Object(parsed(text)) as Fields; // then it has string keys
  return isText(plot) && isPlotName(plot) && typeof n === 'number'
    ? { plot, arguments: argumentsOf(asked), n }
    : null;
}

function parsed(text: string): unknown {
  return text === '' ? null : JSON.parse(text);
}

/** Scripts lie below `static/` and nowhere else: the page runs what they name. */
const SCRIPT_PATH = /^static\/(?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.js(?:\?v=[\w.-]+)?$/;

/** Return what a document's message says of how it is drawn, checked. */
export function documentOf(value: unknown): Readonly<{
  document: object;
  bokeh: string;
  scripts: readonly string[];
}> {
  const { document, bokeh, scripts } = fieldsOf(value, 'document');
  const paths = listOf(scripts, 'document.scripts').filter(isText);
  if (!isText(bokeh) || !paths[0] || !paths.every(one => SCRIPT_PATH.test(one))) {
    throw new ProtocolError('document');
  }
  return { document: fieldsOf(document, 'document.document'), bokeh, scripts: paths };
}
