/** Reading the fields of what came from outside: each is of its kind, or `WireError` names it. */

/** Thrown when the other side broke the contract; the message names the field. */
export class WireError extends Error {
  constructor(
    /** The field. */
    readonly where: string
  ) {
    super(`The server's answer is not what this version understands (${where}).`);
  }
}

export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown, where: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new WireError(where);
  }
  return value as Fields; // checked above: a plain object
}

export function textOf(fields: Fields, key: string, where: string): string {
  const value = fields[key];
  if (typeof value !== 'string') {
    throw new WireError(`${where}.${key}`);
  }
  return value;
}

export function nameOf(fields: Fields, key: string, where: string): string {
  const value = textOf(fields, key, where);
  if (value === '') {
    throw new WireError(`${where}.${key}`);
  }
  return value;
}

export function numberOf(fields: Fields, key: string, where: string): number {
  const value = fields[key];
  if (typeof value !== 'number' || !Number.isFinite(value)) {
    throw new WireError(`${where}.${key}`);
  }
  return value;
}

export function nullableTextOf(fields: Fields, key: string, where: string): string | null {
  return fields[key] === null ? null : textOf(fields, key, where);
}

export function listOf(fields: Fields, key: string, where: string): readonly unknown[] {
  const value = fields[key];
  if (!Array.isArray(value)) {
    throw new WireError(`${where}.${key}`);
  }
  return value;
}

export function oneOf<T extends string>(
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

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}
