/** What commands have in common: their arguments, what they say and what they ask. */

import { InputDialog, Notification } from '@jupyterlab/apputils';
import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyPartialJSONObject } from '@lumino/coreutils';

import { messageOf, type ITranslate } from '../text';

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

const SHOWN = { autoClose: 6000 };

/** Say something that needs no answer. */
export function notify(message: string): void {
  Notification.info(message, SHOWN);
}

/** Say what has failed, and why. */
export function notifyError(message: string, reason: unknown, trans: ITranslate): void {
  Notification.error(`${message} ${messageOf(reason, trans)}`, SHOWN);
}

/** Let the user pick one of several; undefined when none was picked. */
export async function pick<T>(
  title: string,
  items: readonly T[],
  label: (item: T) => string
): Promise<T | undefined> {
  const labels = items.map(label);
  const { value } = await InputDialog.getItem({ title, items: labels });
  return value === null ? undefined : items[labels.indexOf(value)];
}

/** The palette has given the focus back by then: to a panel, its notebook, and the cell of that. */
export async function afterPalette(): Promise<void> {
  for (let frames = 0; frames < 3; frames++) {
    await new Promise(requestAnimationFrame);
  }
}
