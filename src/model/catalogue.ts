/** A dashboard's plots as the sidebar lists them: found by words, in groups, favourites first. */

import type { IPlot } from '../wire';

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
  ['occupancy', 'load balance backlog expected']
]);

/** True when every word of the query occurs in the plot's title, description or keywords. */
export function matches(plot: IPlot, query: string): boolean {
  const text = [
    plot.name,
    plot.title,
    plot.group,
    plot.description,
    ...(plot.keywords ?? []),
    OTHER_WORDS.get(plot.name) ?? ''
  ]
    .join(' ')
    .toLocaleLowerCase();
  const words = query.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  return words.every(word => text.includes(word));
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
  const found = plots.filter(plot => matches(plot, query));
  return [...new Set(found.map(groupOf))]
    .sort((a, b) => groupRank(a) - groupRank(b))
    .map(name => ({ name, plots: found.filter(plot => groupOf(plot) === name) }));
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
