/** What the Jupyter server and the in-kernel server send, and the guards that check it on arrival. */

import { argumentsOf, type PlotArguments } from './wire/arguments';
import {
  fieldsOf,
  isText,
  listOf,
  nameOf,
  nullableTextOf,
  numberOf,
  oneOf,
  textOf,
  WireError,
  type Fields
} from './wire/fields';

export * from './wire/arguments';
export * from './wire/control';
export { isText, WireError };

/** One plot of a dashboard, as its catalogue tells it. */
export interface IPlot {
  readonly name: string;
  readonly title: string;
  readonly group: string;
  readonly description: string;
  readonly help?: string;
  readonly keywords?: readonly string[];
  /** A stock dashboard's plots have pages of their own, relative to the dashboard. */
  readonly route?: string;
}

/** What a scheduler does at this moment, in numbers; memory in bytes. */
export interface ISummary {
  readonly workers: number;
  readonly threads: number;
  readonly memory_limit: number;
  readonly memory: number;
  readonly tasks: {
    readonly total: number;
    readonly done: number;
    readonly erred: number;
    readonly processing: number;
  };
}

export type DashboardKind = 'diagnostics' | 'stock';
export type DashboardState = 'live' | 'stale' | 'unreachable';

/** Something that serves plots and is reached by its id. */
export interface IDashboard {
  readonly id: string;
  readonly name: string;
  readonly kind: DashboardKind;
  readonly kernel_id: string | null;
  readonly scheduler: { readonly id: string; readonly address: string };
  readonly state: DashboardState;
  readonly reason: string | null;
  readonly plots: readonly IPlot[];
  readonly summary?: ISummary | null;
  /** When its cluster closed, in s since the epoch; left out before, and where nothing is kept. */
  readonly closed_at?: number;
}

/** The answer to `POST plots/<name>/session`. */
export interface ISessionReply {
  readonly token: string;
  /** Bokeh's JSON of the plot's document. */
  readonly document: object;
  readonly bokeh: string;
  readonly scripts: readonly string[];
  /** Scripts that the next plot is likely to need. */
  readonly later: readonly string[];
}

/** A plot's data: named columns of equal length, and the unit of each, '' for none. */
export interface ITable {
  readonly columns: Readonly<Record<string, readonly unknown[]>>;
  readonly units: Readonly<Record<string, string>>;
  /** What was left out or is late, in words; '' for nothing. */
  readonly note: string;
}

/** What a notebook output of ours holds. */
export interface IPlotOutput {
  readonly dashboard: string;
  readonly plot: string;
  readonly height: number;
  readonly arguments: PlotArguments;
  /** The user has named the cluster. */
  readonly isChosen: boolean;
}

function plotOf(value: unknown, where: string): IPlot {
  const fields = fieldsOf(value, where);
  const { help, keywords, route } = fields;
  return {
    name: nameOf(fields, 'name', where),
    title: textOf(fields, 'title', where),
    group: textOf(fields, 'group', where),
    description: textOf(fields, 'description', where),
    ...(isText(help) ? { help } : {}),
    ...(Array.isArray(keywords) ? { keywords: keywords.filter(isText) } : {}),
    ...(isText(route) ? { route } : {})
  };
}

function summaryOf(value: unknown, where: string): ISummary | null {
  if (value === null || value === undefined) {
    return null;
  }
  const fields = fieldsOf(value, where);
  const tasks = fieldsOf(fields['tasks'], `${where}.tasks`);
  return {
    workers: numberOf(fields, 'workers', where),
    threads: numberOf(fields, 'threads', where),
    memory_limit: numberOf(fields, 'memory_limit', where),
    memory: numberOf(fields, 'memory', where),
    tasks: {
      total: numberOf(tasks, 'total', `${where}.tasks`),
      done: numberOf(tasks, 'done', `${where}.tasks`),
      erred: numberOf(tasks, 'erred', `${where}.tasks`),
      processing: numberOf(tasks, 'processing', `${where}.tasks`)
    }
  };
}

/** Return one dashboard, checked; throw `WireError` when a field is missing or of a wrong kind. */
export function dashboardOf(value: unknown, where = 'dashboard'): IDashboard {
  const fields = fieldsOf(value, where);
  const scheduler = fieldsOf(fields['scheduler'], `${where}.scheduler`);
  const closedAt = fields['closed_at'];
  return {
    id: nameOf(fields, 'id', where),
    name: textOf(fields, 'name', where),
    kind: oneOf(fields, 'kind', ['diagnostics', 'stock'], where),
    kernel_id: nullableTextOf(fields, 'kernel_id', where),
    scheduler: {
      id: textOf(scheduler, 'id', `${where}.scheduler`),
      address: textOf(scheduler, 'address', `${where}.scheduler`)
    },
    state: oneOf(fields, 'state', ['live', 'stale', 'unreachable'], where),
    reason: nullableTextOf(fields, 'reason', where),
    plots: listOf(fields, 'plots', where).map((plot, i) => plotOf(plot, `${where}.plots[${i}]`)),
    summary: summaryOf(fields['summary'], `${where}.summary`),
    ...(typeof closedAt === 'number' ? { closed_at: closedAt } : {})
  };
}

/** Return the plots of a dashboard's own `plots.json`, which also says how to read each. */
export function plotsOf(value: unknown): readonly IPlot[] {
  const fields = fieldsOf(value, 'answer');
  return listOf(fields, 'plots', 'answer').map((plot, i) => plotOf(plot, `plots[${i}]`));
}

/** Return the list of the dashboards object that GET and the events socket send. */
export function dashboardsOf(value: unknown): readonly IDashboard[] {
  const fields = fieldsOf(value, 'answer');
  return listOf(fields, 'dashboards', 'answer').map((one, i) =>
    dashboardOf(one, `dashboards[${i}]`)
  );
}

/** Scripts lie below `static/` and nowhere else: the page runs what they name. */
const SCRIPT_PATH = /^static\/(?:[\w-][\w.-]*\/)*[\w-][\w.-]*\.js$/;

/** Return a plot session's reply, checked. */
export function sessionReplyOf(value: unknown): ISessionReply {
  const fields = fieldsOf(value, 'session');
  const scripts = listOf(fields, 'scripts', 'session').filter(isText);
  const given = fields['later'];
  const later = Array.isArray(given) ? given.filter(isText) : [];
  if (scripts.length === 0 || ![...scripts, ...later].every(path => SCRIPT_PATH.test(path))) {
    throw new WireError('session.scripts');
  }
  return {
    token: nameOf(fields, 'token', 'session'),
    document: fieldsOf(fields['document'], 'session.document'),
    bokeh: nameOf(fields, 'bokeh', 'session'),
    scripts,
    later
  };
}

/** Return a plot's table, checked: every column a list, all of one length. */
export function tableOf(value: unknown): ITable {
  const fields = fieldsOf(value, 'table');
  const given = fieldsOf(fields['columns'], 'table.columns');
  const columns = Object.fromEntries(
    Object.keys(given).map(key => [key, listOf(given, key, 'table.columns')])
  );
  if (new Set(Object.values(columns).map(column => column.length)).size > 1) {
    throw new WireError('table.columns');
  }
  const told = new Map(Object.entries(fieldsOf(fields['units'] ?? {}, 'table.units')));
  // One for each column: a column may be called what every object has, such as `constructor`.
  const units = Object.fromEntries(
    Object.keys(columns).map(key => [key, String(told.get(key) ?? '')])
  );
  const note = fields['note'];
  return { columns, units, note: isText(note) ? note : '' };
}

/** Return what a notebook output asks for, or null when it is not ours to draw. */
export function plotOutputOf(value: unknown): IPlotOutput | null {
  if (typeof value !== 'object' || value === null) {
    return null;
  }
  const { dashboard, plot, height } = value as Fields; // any object has string keys
  if (!isText(dashboard) || !isText(plot)) {
    return null;
  }
  const asked = typeof height === 'number' && Number.isFinite(height) ? height : 400;
  return {
    dashboard,
    plot,
    height: Math.min(Math.max(asked, 120), 4000),
    arguments: argumentsOf((value as Fields)['arguments']), // as above
    isChosen: (value as Fields)['chosen'] === true
  };
}
