/** What the Jupyter server and the in-kernel server send, and the guards that check it on arrival. */

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
}

/** The answer to `POST plots/<name>/session`. */
export interface ISessionReply {
  readonly token: string;
  readonly bokeh: string;
  readonly scripts: readonly string[];
}

/** A plot's data: named columns of equal length, and the unit of those that have one. */
export interface ITable {
  readonly columns: Readonly<Record<string, readonly unknown[]>>;
  readonly units: Readonly<Record<string, string>>;
}

/** What a notebook output of ours holds. */
export interface IPlotOutput {
  readonly dashboard: string;
  readonly plot: string;
  readonly height: number;
}

/** Thrown when the other side broke the contract; the message names the field. */
export class WireError extends Error {
  constructor(where: string) {
    super(`The server's answer is not what this version understands (${where}).`);
  }
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown, where: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new WireError(where);
  }
  return value as Fields; // checked above: a plain object
}

function textOf(fields: Fields, key: string, where: string): string {
  const value = fields[key];
  if (typeof value !== 'string') {
    throw new WireError(`${where}.${key}`);
  }
  return value;
}

function nameOf(fields: Fields, key: string, where: string): string {
  const value = textOf(fields, key, where);
  if (value === '') {
    throw new WireError(`${where}.${key}`);
  }
  return value;
}

function numberOf(fields: Fields, key: string, where: string): number {
  const value = fields[key];
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new WireError(`${where}.${key}`);
  }
  return value;
}

function nullableTextOf(fields: Fields, key: string, where: string): string | null {
  return fields[key] === null ? null : textOf(fields, key, where);
}

function listOf(fields: Fields, key: string, where: string): readonly unknown[] {
  const value = fields[key];
  if (!Array.isArray(value)) {
    throw new WireError(`${where}.${key}`);
  }
  return value;
}

function oneOf<T extends string>(
  fields: Fields,
  key: string,
  allowed: readonly T[],
  where: string
): T {
  const value = allowed.find(choice => choice === fields[key]);
  if (value === undefined) {
    throw new WireError(`${where}.${key}`);
  }
  return value;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
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
    summary: summaryOf(fields['summary'], `${where}.summary`)
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
  if (scripts.length === 0 || !scripts.every(path => SCRIPT_PATH.test(path))) {
    throw new WireError('session.scripts');
  }
  return {
    token: nameOf(fields, 'token', 'session'),
    bokeh: nameOf(fields, 'bokeh', 'session'),
    scripts
  };
}

/** Return a plot's table, checked: every column a list, all of one length. */
export function tableOf(value: unknown): ITable {
  const fields = fieldsOf(value, 'table');
  const given = fieldsOf(fields['columns'], 'table.columns');
  const columns: Record<string, readonly unknown[]> = {};
  for (const key of Object.keys(given)) {
    columns[key] = listOf(given, key, 'table.columns');
  }
  if (new Set(Object.values(columns).map(column => column.length)).size > 1) {
    throw new WireError('table.columns');
  }
  const units: Record<string, string> = {};
  for (const [key, unit] of Object.entries(fieldsOf(fields['units'] ?? {}, 'table.units'))) {
    units[key] = String(unit);
  }
  return { columns, units };
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
  return { dashboard, plot, height: Math.min(Math.max(asked, 120), 4000) };
}

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
}

export type ControlState = 'live' | 'connecting' | 'degraded' | 'lost' | 'closed' | 'error';

/** What the server says about one page's picture, through the document's control. */
export interface IControl {
  readonly state: ControlState;
  readonly message: string;
  readonly empty: string;
  readonly note: string;
  readonly behind_s: number;
  /** The picture stays as it is, as was asked. */
  readonly frozen: boolean;
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
  const behind = fields['behind_s'];
  return {
    state: CONTROL_STATES.find(state => state === fields['state']) ?? 'connecting',
    message: text('message'),
    empty: text('empty'),
    note: text('note'),
    behind_s: typeof behind === 'number' && behind > 0 ? behind : 0,
    frozen: fields['frozen'] === true
  };
}
