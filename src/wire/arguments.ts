/** What a plot is to show of many, such as the profile of one prefix: names and texts. */

/** An empty one makes no choice. */
export type PlotArguments = Readonly<Record<string, string>>;

export const NO_ARGUMENTS: PlotArguments = {};

const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
/** A server's own words in the query of a page. */
const RESERVED: readonly string[] = ['token', 'bare'];
const MAX_VALUE = 2000;
const MAX_COUNT = 16;

/** Return the arguments in a value from outside, without what cannot be one. */
export function argumentsOf(value: unknown): PlotArguments {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return NO_ARGUMENTS;
  }
  const pairs = Object.entries(value).filter(
    (pair): pair is [string, string] =>
      typeof pair[1] === 'string' &&
      pair[1].length <= MAX_VALUE &&
      NAME.test(pair[0]) &&
      !RESERVED.includes(pair[0])
  );
  return Object.fromEntries(pairs.slice(0, MAX_COUNT).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function isSameArguments(one: PlotArguments, other: PlotArguments): boolean {
  return JSON.stringify(argumentsOf(one)) === JSON.stringify(argumentsOf(other));
}

/** Return a query of the arguments, with its question mark; '' for none. */
export function queryOf(given: PlotArguments): string {
  const query = Object.entries(given)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join('&');
  return query === '' ? '' : `?${query}`;
}

/** Arguments that say what a picture is about; others, such as a range of time, say how much. */
const SUBJECTS = ['key', 'task', 'prefix', 'group', 'span', 'worker', 'name'];
const MAX_SUBJECT = 60;

/** The address of a worker, without its protocol. */
const ADDRESS = /^[a-z][a-z0-9+]*:\/\/(\S+)$/i;
/** What of an IP address tells machines of one network apart, with the port. */
const END_OF_IP = /^\d+\.\d+\.\d+\.(\d+:\d+)$/;
/** Characters of an address in a tab. */
const MAX_ADDRESS = 16;

/** Return the title of a plot with what it shows of many: `Profile: inc`. */
export function headingOf(title: string, subject: string): string {
  return subject === '' ? title : `${title}: ${subject}`;
}

/** Return in short what the arguments choose, for a title: `inc`; '' for nothing. */
export function subjectOf(given: PlotArguments): string {
  const subject = subjectIn(given).replace(/\s+/g, ' ');
  return subject.length > MAX_SUBJECT ? `${subject.slice(0, MAX_SUBJECT - 1)}…` : subject;
}

/** Return the same for a tab, where addresses would all begin alike: `…1:43567`. */
export function shortSubjectOf(given: PlotArguments): string {
  const [, address] = ADDRESS.exec(subjectIn(given)) ?? [];
  if (address === undefined) {
    return subjectOf(given);
  }
  const [, end] = END_OF_IP.exec(address) ?? [];
  return `…${(end ?? address).slice(-MAX_ADDRESS)}`;
}

function subjectIn(given: PlotArguments): string {
  const name = SUBJECTS.find(one => (given[one] ?? '') !== '');
  return name === undefined ? '' : (given[name] ?? '');
}
