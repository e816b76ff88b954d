/** What the Jupyter server sends about dashboards, declared once and checked on arrival. */

import { ProtocolError } from '../text';
import { argumentsOf, fieldsOf, isText, listOf, type Fields, type PlotArguments } from './control';

/** Returns a value from outside when it is what it has to be, else throws `ProtocolError`. */
type Guard<T> = (value: unknown, where: string) => T;
type Guarded<G> = G extends Guard<infer T> ? T : never;
type Guards = Readonly<Record<string, Guard<unknown>>>;
type Shape<R, O> = { readonly [K in keyof R]: Guarded<R[K]> } & {
  readonly [K in keyof O]?: Guarded<O[K]>;
};

function only<T>(isSo: (value: unknown) => value is T): Guard<T> {
  return (value, where) => {
    if (!isSo(value)) {
      throw new ProtocolError(where);
    }
    return value;
  };
}

function nullable<T>(guard: Guard<T>): Guard<T | null> {
  return (value, where) => (value === null ? null : guard(value, where));
}

function list<T>(guard: Guard<T>): Guard<readonly T[]> {
  return (value, where) => listOf(value, where).map((one, i) => guard(one, `${where}[${i}]`));
}

function record<T>(guard: Guard<T>): Guard<Readonly<Record<string, T>>> {
  return (value, where) => {
    const pairs = Object.entries(fieldsOf(value, where));
    return Object.fromEntries(pairs.map(([key, one]) => [key, guard(one, `${where}.${key}`)]));
  };
}

/** An object with these fields, and perhaps with others of which some may be missing. */
function shape<R extends Guards, O extends Guards>(required: R, optional: O): Guard<Shape<R, O>> {
  return (value, where) => {
    const fields = fieldsOf(value, where);
    const pairs = Object.entries({ ...required, ...optional })
      .filter(([key]) => key in required || key in fields)
      .map(([key, guard]) => [key, guard(fields[key], `${where}.${key}`)]);
    return Object.fromEntries(pairs) as Shape<R, O>; // each has passed its guard
  };
}

/** Returns the list in one field of a message. */
function listIn<T>(name: string, guard: Guard<T>): (message: unknown) => readonly T[] {
  return message => list(guard)(fieldsOf(message, 'answer')[name], `answer.${name}`);
}

function oneOf<T extends string>(...allowed: readonly T[]): Guard<T> {
  return only((value): value is T => allowed.some(one => one === value));
}

const text = only(isText);
const name = only((value): value is string => isText(value) && value !== '');
const number = only((value): value is number => Number.isFinite(value));
const flag = only((value): value is boolean => typeof value === 'boolean');
const column = only((value): value is readonly unknown[] => Array.isArray(value));

const plot = shape(
  { name, title: text, group: text, description: text },
  // A stock dashboard's plots have pages of their own, at a route relative to the dashboard.
  // Where a plot can have no data, `unavailable` says why.
  { help: text, keywords: list(text), route: text, unavailable: text }
);

/** One plot of a dashboard. */
export type IPlot = Guarded<typeof plot>;

const summary = shape(
  {
    workers: number,
    threads: number
  },
  // Dask's own dashboard tells none of these, and its limit only once its cluster was idle.
  {
    memory_limit: number,
    memory: number,
    tasks: shape({ total: number, done: number, erred: number, processing: number }, {}),
    // How many workers died of late, a sentence on the last one, and when, in s since the epoch.
    losses: shape({ workers: number, text, time: number }, {})
  }
);

/** What a scheduler does at this moment, in numbers; memory in bytes. */
export type ISummary = Guarded<typeof summary>;

const dashboard = shape(
  {
    id: name,
    name: text,
    kind: oneOf('diagnostics', 'stock'),
    kernel_id: nullable(text),
    scheduler: shape({ id: text, address: text }, {}),
    state: oneOf('live', 'stale', 'unreachable'),
    reason: nullable(text),
    plots: list(plot)
  },
  {
    summary: nullable(summary),
    // When its cluster closed, in s since the epoch: not before, and not where nothing is kept.
    closed_at: number,
    // Of one of Dask's own: the diagnostics of the same scheduler, in whose entry it is listed.
    shown_with: text,
    // The id of the notebook's cell that made its client, and that of the run of the cell.
    cell: list(text),
    // Only what was added by hand can be taken off the list, and a recording be closed.
    is_removable: flag
  }
);

/** Something that serves plots and is reached by its id. */
export type IDashboard = Guarded<typeof dashboard>;

const run = shape(
  {
    number,
    name: text,
    // The id of its notebook's cell and the number of its execution; '' and 0 where it has none.
    cell: text,
    count: number,
    is_own: flag,
    state: oneOf('running', 'done', 'failed', 'cancelled'),
    start: number,
    stop: nullable(number),
    tasks: number,
    submitted: number,
    failed: number,
    // Seconds of all threads, and what they went to, by category.
    offered_s: number,
    budget: record(number),
    // How many reasons are known why it was slow.
    findings: number,
    // How long it took, and what there is to say of it.
    line: text
  },
  {}
);

/** What one piece of the user's code made a cluster do. */
export type IRun = Guarded<typeof run>;

const changes = shape({ changed: list(fieldsOf), removed: list(text) }, {});

/** Return the dashboard of the answer to a POST. */
export function dashboardOf(value: unknown): IDashboard {
  return dashboard(value, 'answer');
}

/** Return the dashboards of the answer to a GET, which is also a socket's first message. */
export const dashboardsOf = listIn('dashboards', dashboard);

/** Return the last runs of a dashboard, the newest first. */
export const runsOf = listIn('runs', run);

/** Return the plots of a dashboard's own `plots.json`, which also says how to read each. */
export const plotsOf = listIn('plots', plot);

/**
 * Return the list after a message of the events socket: the first is the whole list, each later one
 * what changed; see docs/decisions/0007-events-push-changes.md.
 *
 * @param before - null before the first message.
 */
export function listAfter(
  before: readonly IDashboard[] | null,
  message: unknown
): readonly IDashboard[] {
  if (before === null) {
    return dashboardsOf(message);
  }
  const byId = new Map(before.map(one => [one.id, one]));
  const { changed, removed } = changes(message, 'change');
  for (const change of changed) {
    const { plots } = byId.get(String(change['id'])) ?? {};
    const one = dashboard({ plots, ...change }, 'changed');
    byId.set(one.id, one);
  }
  removed.forEach(id => byId.delete(id));
  return [...byId.values()];
}

// What was left out or is late stands in the note; '' for nothing.
const table = shape({ columns: record(column), units: record(text), rows: number, note: text }, {});

/** A plot's data: named columns of equal length, and their units. */
export type ITable = Guarded<typeof table>;

export function tableOf(value: unknown): ITable {
  return table(value, 'table');
}

/** What a notebook output of ours holds. */
export interface IPlotOutput {
  readonly dashboard: string;
  readonly plot: string;
  readonly height: number;
  readonly arguments: PlotArguments;
}

/** Return what a notebook output asks for, or null when it is not ours to draw. */
export function plotOutputOf(value: unknown): IPlotOutput | null {
  const { dashboard, plot, height, arguments: given } = Object(value) as Fields; // any has fields
  if (!isText(dashboard) || !isText(plot)) {
    return null;
  }
  const asked = typeof height === 'number' ? height : 400;
  const inBounds = Math.min(Math.max(asked, 120), 4000);
  return { dashboard, plot, height: inBounds, arguments: argumentsOf(given) };
}
