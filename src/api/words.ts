/** The words of errors that people read, in their language; WireError's too, which knows no one's. */

import { WireError } from '../wire';

/** The part of Lab's translation bundle that is used below the widgets. */
export interface ITranslate {
  __(text: string, ...values: string[]): string;
}

/** Return what an error says. */
export function errorWords(error: unknown, trans: ITranslate): string {
  if (error instanceof WireError) {
    return trans.__('The server’s answer is not what this version understands (%1).', error.where);
  }
  return error instanceof Error ? error.message : String(error);
}
