/** What the Jupyter server sends about dashboards, and the guards that check it on arrival. */

import {
  argumentsOf,
  fieldsOf,
  isText,
  listOf,
  nameOf,
  type Fields,
  type PlotArguments
} from '../plot/control';
import { ProtocolError } from '../plot/text';

/** One plot of a dashboard. */
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

/** Something that serves plots and is reached by its id. */
export interface IDashboard {
  readonly id: string;
  readonly name: string;
  readonly kind: 'diagnostics' | 'stock';
  readonly kernel_id: string | null;
  readonly scheduler: { readonly id: string; readonly address: string };
  readonly state: 'live' | 'stale' | 'unreachable';
  readonly reason: string | null;
  readonly plots: readonly IPlot[];
  readonly summary?: ISummary | null;
  /** When its cluster closed, in s since the epoch; left out before, and where nothing is kept. */
  readonly closed_at?: number;
}

/** A plot's data: named columns of equal length, and the unit of each, '' for none. */
export interface ITable {
  readonly columns: Readonly<Record<string, readonly unknown[]>>;
  readonly units: Readonly<Record<string, string>>;
  /** What was left out or is late; '' for nothing. */
  readonly note: string;
}

/** What a notebook output of ours holds. */
export interface IPlotOutput {
  readonly dashboard: string;
  readonly plot: string;
  readonly height: number;
  readonly arguments: PlotArguments;
}

function textOf(fields: Fields, key: string, where: string): string {
  const value = fields[key];
  if (!isText(value)) {
    throw new ProtocolError(`${where}.${key}`);
  }
  return value;
}

function numberOf(fields: Fields, key: string, where: string): number {
  const value = fields[key];
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new ProtocolError(`${where}.${key}`);
  }
  return value;
}

function nullableTextOf(fields: Fields, key: string, where: string): string | null {
  return fields[key] === null ? null : textOf(fields, key, where);
}

function oneOf<T extends string>(fields: Fields, key: string, allowed: readonly T[]): T {
  const value = allowed.find(choice => choice === fields[key]);
  if (value === undefined) {
    throw new ProtocolError(key);
  }
  return value;
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
  if (value == null) {
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
      total: numberOf(tasks, 'total', where),
      done: numberOf(tasks, 'done', where),
      erred: numberOf(tasks, 'erred', where),
      processing: numberOf(tasks, 'processing', where)
    }
  };
}

function dashboardOf(value: unknown, where: string): IDashboard {
  const fields = fieldsOf(value, where);
  const scheduler = fieldsOf(fields['scheduler'], `${where}.scheduler`);
  const closedAt = fields['closed_at'];
  return {
    id: nameOf(fields, 'id', where),
    name: textOf(fields, 'name', where),
    kind: oneOf(fields, 'kind', ['diagnostics', 'stock']),
    kernel_id: nullableTextOf(fields, 'kernel_id', where),
    scheduler: {
      id: textOf(scheduler, 'id', where),
      address: textOf(scheduler, 'address', where)
    },
    state: oneOf(fields, 'state', ['live', 'stale', 'unreachable']),
    reason: nullableTextOf(fields, 'reason', where),
    plots: listOf(fields, 'plots', where).map((plot, i) => plotOf(plot, `${where}.plots[${i}]`)),
    summary: summaryOf(fields['summary'], `${where}.summary`),
    ...(typeof closedAt === 'number' ? { closed_at: closedAt } : {})
  };
}

/** Return the dashboards of the answer to a GET, which is also a socket's first message. */
export function dashboardsOf(value: unknown): readonly IDashboard[] {
  const list = listOf(fieldsOf(value, 'answer'), 'dashboards', 'answer');
  return list.map((one, i) => dashboardOf(one, `dashboards[${i}]`));
}

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
  const fields = fieldsOf(message, 'change');
  const byId = new Map(before.map(one => [one.id, one]));
  listOf(fields, 'changed', 'change').forEach((one, i) => {
    const change = fieldsOf(one, `changed[${i}]`);
    const { plots } = byId.get(String(change['id'])) ?? {};
    const changed = dashboardOf({ plots, ...change }, `changed[${i}]`);
    byId.set(changed.id, changed);
  });
  listOf(fields, 'removed', 'change').forEach(id => byId.delete(String(id)));
  return [...byId.values()];
}

/** Return the plots of a dashboard's own `plots.json`, which also says how to read each. */
export function plotsOf(value: unknown): readonly IPlot[] {
  const list = listOf(fieldsOf(value, 'answer'), 'plots', 'answer');
  return list.map((plot, i) => plotOf(plot, `plots[${i}]`));
}

/** Return a plot's table, checked: every column a list, all of one length. */
export function tableOf(value: unknown): ITable {
  const fields = fieldsOf(value, 'table');
  const given = fieldsOf(fields['columns'], 'table.columns');
  const columns = Object.fromEntries(
    Object.keys(given).map(key => [key, listOf(given, key, 'table.columns')])
  );
  if (new Set(Object.values(columns).map(column => column.length)).size > 1) {
    throw new ProtocolError('table.columns');
  }
  // A column may be called what every object has, such as `constructor`.
  const known = new Map(Object.entries(fieldsOf(fields['units'] ?? {}, 'table.units')));
  const units = Object.keys(columns).map(key => [key, String(known.get(key) ?? '')] as const);
  const { note } = fields;
  return { columns, units: Object.fromEntries(units), note: isText(note) ? note : '' };
}

/** Return what a notebook output asks for, or null when it is not ours to draw. */
export function plotOutputOf(value: unknown): IPlotOutput | null {
  if (typeof value !== 'object' || value === null) {
    return null;
  }
  const { dashboard, plot, height, arguments: given } = value as Fields; // any object has string keys
  if (!isText(dashboard) || !isText(plot)) {
    return null;
  }
  const asked = typeof height === 'number' && Number.isFinite(height) ? height : 400;
  const inBounds = Math.min(Math.max(asked, 120), 4000);
  return { dashboard, plot, height: inBounds, arguments: argumentsOf(given) };
}
