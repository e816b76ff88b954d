/** A dashboard's plots as the sidebar lists them: found by words, in groups, favourites first. */

import type { IPlot } from '../wire';
import { isNearly } from './typo';

export interface IPlotGroup {
  readonly name: string;
  readonly plots: readonly IPlot[];
}

/** The group of the plots a user likes best, whatever group they are of. */
export const FAVOURITES = 'Favourites';

/** The order of groups; one that is not named here comes after. */
const GROUPS = [FAVOURITES, 'Tasks', 'Workers', 'Profile', 'Scheduler', 'Yours'];

/** Words that people use for what a plot shows, where its own text says it otherwise. */
const OTHER_WORDS: ReadonlyMap<string, string> = new Map([
  ['task-stream', 'gantt timeline trace idle transfer'],
  ['progress', 'done left remaining bars'],
  ['graph', 'dag dependencies tree'],
  ['workers-memory', 'ram spill spilled disk unmanaged leak oom'],
  ['cluster-memory', 'ram spill spilled disk unmanaged leak oom'],
  ['nprocessing', 'queue balance load stealing'],
  ['cpu', 'processor utilisation utilization load busy'],
  ['occupancy', 'load balance backlog expected'],
  ['costs', 'wasted waste lost time']
]);

/** Return the plots that match; where none does, those that would without a slip of the finger. */
export function found(plots: readonly IPlot[], query: string): readonly IPlot[] {
  const exactly = plots.filter(plot => matches(plot, query));
  return exactly.length > 0 ? exactly : plots.filter(plot => nearlyMatches(plot, query));
}

/** True when every word of the query occurs in the plot's title, description or keywords. */
export function matches(plot: IPlot, query: string): boolean {
  const text = textOf(plot);
  return wordsOf(query).every(word => text.includes(word));
}

function nearlyMatches(plot: IPlot, query: string): boolean {
  const text = textOf(plot);
  const known = new Set(wordsOf(text));
  return wordsOf(query).every(
    word => text.includes(word) || [...known].some(one => isNearly(word, one))
  );
}

function textOf(plot: IPlot): string {
  return [
    plot.name,
    plot.title,
    plot.group,
    plot.description,
    ...(plot.keywords ?? []),
    OTHER_WORDS.get(plot.name) ?? ''
  ]
    .join(' ')
    .toLocaleLowerCase();
}

function wordsOf(text: string): readonly string[] {
  return text
    .toLocaleLowerCase()
    .split(/[\s.,;:()-]+/)
    .filter(Boolean);
}

/**
 * Return the plots that match, in groups.
 *
 * Favourites are a group of their own before the others, in which they are not shown again; inside
 * a group the catalogue's order is kept.
 */
export function grouped(
  plots: readonly IPlot[],
  query: string,
  isFavorite: (plot: string) => boolean
): readonly IPlotGroup[] {
  const groupOf = (plot: IPlot): string => (isFavorite(plot.name) ? FAVOURITES : plot.group);
  const shown = found(plots, query);
  return [...new Set(shown.map(groupOf))]
    .sort((a, b) => groupRank(a) - groupRank(b))
    .map(name => ({ name, plots: shown.filter(plot => groupOf(plot) === name) }));
}

function groupRank(name: string): number {
  const rank = GROUPS.indexOf(name);
  return rank < 0 ? GROUPS.length : rank;
}

/** A title for a plot whose dashboard is not there to tell it. */
export function titleFromName(name: string): string {
  const words = name.replace(/-/g, ' ');
  return words.charAt(0).toLocaleUpperCase() + words.slice(1);
}
