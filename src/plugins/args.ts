/** The arguments of commands: what they mean, and reading them. */

import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { PAGES } from '../tokens';

export type Args = ReadonlyPartialJSONObject;

export const MODES = [
  'split-right',
  'split-bottom',
  'split-left',
  'split-top',
  'tab-after'
] as const;

/** The type and the meaning of each argument; all of them may be left out. */
const ARGUMENTS = {
  id: ['string', 'The id of a pane; that of the pane in front by default.'],
  plot: ['string', 'The name of a plot, such as task-stream.'],
  dashboard: ['string', 'The id of a dashboard; by default that of the notebook in front.'],
  run: ['number', 'The number of a run of that dashboard.'],
  other: ['number', 'The number of the run that it is compared with.'],
  otherDashboard: ['string', 'The id of the dashboard of that run, where it is another one.'],
  isPointed: ['boolean', 'Whether what the context menu was opened at is meant.'],
  toolbar: ['boolean', 'Whether it is a button in the toolbar of a pane.'],
  mode: ['string', `Where a new pane goes, at what is in front: ${MODES.join(', ')}.`],
  arguments: ['object', 'What a plot is to show of many, such as {"prefix": "inc"}.'],
  key: ['string', 'The name of a pane that comes back after a reload.'],
  binding: ['object', 'The cluster of a pane that comes back after a reload.'],
  from: ['string', 'The id of the dashboard whose panes change.'],
  page: ['string', `A page of a dashboard: ${PAGES.join(', ')}.`],
  own: ['boolean', 'Whether Dask’s own dashboard of the cluster is meant.'],
  format: ['string', 'The ending of a file, such as svg or csv; png by default.']
} as const;

type ArgumentName = keyof typeof ARGUMENTS;

/** Return the description of a command that takes these arguments. */
export function describedBy(
  ...names: readonly ArgumentName[]
): Partial<CommandRegistry.Description> {
  const properties = names.map(name => {
    const [type, description] = ARGUMENTS[name];
    return [name, { type, description }] as const;
  });
  return { args: { type: 'object', properties: Object.fromEntries(properties) } };
}

/** Return a text argument, undefined when it is missing, empty or no text. */
export function textArg(args: Args, name: ArgumentName): string | undefined {
  const value = args[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Whether a command is about what the context menu was opened at. */
export function isPointed(args: Args): boolean {
  return args['isPointed'] === true;
}
