/** Arguments of commands: their description for other programs, and reading them with care. */

import type { CommandRegistry } from '@lumino/commands';
import type { ReadonlyJSONObject, ReadonlyPartialJSONObject } from '@lumino/coreutils';

interface IProperty extends ReadonlyJSONObject {
  readonly type: string;
  readonly description: string;
}
type Properties = Readonly<Record<string, IProperty>>;

/** Return the `describedBy` of a command with these optional arguments. */
export function describe(properties: Properties = {}): Partial<CommandRegistry.Description> {
  return { args: { type: 'object', properties: { ...properties } } };
}

/** Arguments that several commands take. */
export const PLOT_ARG = {
  plot: {
    type: 'string',
    description: 'Name of a plot, such as task-stream; asked for when left out.'
  }
};
export const DASHBOARD_ARG = {
  dashboard: {
    type: 'string',
    description: 'Id of a dashboard; that of the notebook in front when left out.'
  }
};

export const ARGUMENTS_ARG = {
  arguments: {
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'What the plot is to show of many, such as {"prefix": "inc"}.'
  }
};

/** Return a text argument, undefined when it is missing, empty or no text. */
export function textArg(args: ReadonlyPartialJSONObject, name: string): string | undefined {
  const value = args[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
