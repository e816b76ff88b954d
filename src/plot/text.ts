/** The part of a translation bundle that is used here; Lab's has it, and plain pages use `english`. */
export interface ITranslate {
  __(text: string, ...values: (string | number)[]): string;
  _n(one: string, many: string, count: number, ...values: (string | number)[]): string;
}

/** English, where nobody translates; `%1` is the first value, as in Lab's bundles. */
export const english: ITranslate = {
  __: (text, ...values) => text.replace(/%(\d+)/g, (_, n) => String(values[Number(n) - 1] ?? '')),
  _n: (one, many, count, ...values) => english.__(count === 1 ? one : many, count, ...values)
};

/** Thrown when the other side broke the contract; the message names the field. */
export class ProtocolError extends Error {
  constructor(readonly where: string) {
    super(`The server’s answer is not what this version understands (${where}).`);
  }
}

/** Return the message of an error, in the reader's language where it is one of ours. */
export function messageOf(error: unknown, trans: ITranslate): string {
  if (error instanceof ProtocolError) {
    return trans.__('The server’s answer is not what this version understands (%1).', error.where);
  }
  return error instanceof Error ? error.message : String(error);
}
