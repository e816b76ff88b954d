/** A dashboard's plots as lists show them: found by text, in groups, favourites first; pure. */

import { StringExt } from '@lumino/algorithm';

import type { IPlot } from '../api/protocol';
import type { ITranslate } from '../plot/text';

export interface IPlotGroup {
  readonly name: string;
  readonly plots: readonly IPlot[];
}

/** The group of the plots a user likes best, whatever group they are of. */
export const FAVOURITES = 'Favourites';

/** The order of groups; one that is not named here comes after. */
const GROUPS = [FAVOURITES, 'Tasks', 'Workers', 'Profile', 'Scheduler', 'Yours'];

/** With some forty plots a list of all is long; these are what one looks for first, or made. */
export const OPEN_AT_FIRST: readonly string[] = [FAVOURITES, 'Tasks', 'Yours'];

/** What people search by where a plot's own text has another term for it. */
const OTHER_TERMS: Readonly<Record<string, string>> = {
  'task-stream': 'gantt timeline trace idle transfer',
  progress: 'done left remaining bars',
  graph: 'dag dependencies tree',
  'workers-memory': 'ram spill spilled disk unmanaged leak oom',
  'cluster-memory': 'ram spill spilled disk unmanaged leak oom',
  nprocessing: 'queue balance load stealing',
  cpu: 'processor utilisation utilization load busy',
  occupancy: 'load balance backlog expected',
  costs: 'wasted waste lost time'
};

/** Return the plot with title and description in the reader's language; groups are ordered by name. */
export function translated(plot: IPlot, trans: ITranslate): IPlot {
  const { title, description } = plot;
  return {
    ...plot,
    title: trans.__(title),
    description: trans.__(description)
  };
}

/**
 * Return the plots in which each term of a query occurs, in title, description or keywords.
 *
 * Where there are none, those whose title or keywords have its letters in this order: who types
 * “memry” finds memory.
 */
export function found(plots: readonly IPlot[], query: string): readonly IPlot[] {
  const terms = query.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const textOf = ({ name, title, group, description, keywords = [] }: IPlot): string =>
    [name, title, group, description, ...keywords, OTHER_TERMS[name] ?? '']
      .join(' ')
      .toLocaleLowerCase();
  const exact = plots.filter(plot => terms.every(term => textOf(plot).includes(term)));
  const isNear = (plot: IPlot): boolean =>
    terms.every(term =>
      textOf(plot)
        .split(/[\s.,;:()-]+/)
        .some(one => isNearly(term, one))
    );
  return exact.length > 0 ? exact : plots.filter(isNear);
}

/** True when a term is a part of the letters of another, in their order, and most of it. */
function isNearly(term: string, other: string): boolean {
  const begin = other.slice(0, term.length + 1);
  return term.length > 3 && term[0] === other[0] && StringExt.findIndices(begin, term) !== null;
}

/** Return the plots that match, in groups; favourites are a group of their own before the others. */
export function grouped(
  plots: readonly IPlot[],
  query: string,
  favorites: ReadonlySet<string>
): readonly IPlotGroup[] {
  const groupOf = (plot: IPlot): string => (favorites.has(plot.name) ? FAVOURITES : plot.group);
  const rank = (name: string): number =>
    (GROUPS.indexOf(name) + GROUPS.length + 1) % (GROUPS.length + 1);
  const shown = found(plots, query);
  return [...new Set(shown.map(groupOf))]
    .sort((a, b) => rank(a) - rank(b))
    .map(name => ({ name, plots: shown.filter(plot => groupOf(plot) === name) }));
}

/** Plots that are listed only once a worker has something to show of them. */
const UNLISTED: readonly { plot: string; terms: string; why: (trans: ITranslate) => string }[] = [
  {
    plot: 'rmm-memory',
    terms: 'rmm rapids allocator pool',
    why: trans =>
      trans.__('RMM: no worker reports its memory. The plot of it is listed as soon as one does.')
  },
  {
    plot: 'gpu-memory',
    terms: 'gpus gpu cuda nvidia nvml vram graphics',
    why: trans => trans.__('GPU: no worker reports one. Its plots are listed as soon as one does.')
  }
];

/** Return why a search finds nothing that there is otherwise; '' where it is no such. */
export function whyUnlisted(query: string, listed: readonly IPlot[], trans: ITranslate): string {
  const terms = query.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const meant = UNLISTED.find(
    one =>
      listed.every(({ name }) => name !== one.plot) &&
      terms.some(term => one.terms.split(' ').includes(term))
  );
  return meant?.why(trans) ?? '';
}
