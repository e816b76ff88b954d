/** A dashboard's plots as lists show them: found by text, in groups, favourites first; pure. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { IPlot } from '../protocol/dashboard';

export interface IPlotGroup {
  readonly name: string;
  readonly plots: readonly IPlot[];
}

/** The group of the plots a user likes best, whatever group they are of. */
const FAVOURITES = 'Favourites';

/** The group of Dask's own plots of a cluster that has ours. */
export const STOCK = 'Dask’s dashboard';

/** With some forty plots a list of all is long; these are what one looks for first, or made. */
export const OPEN_AT_FIRST: readonly string[] = [FAVOURITES, 'Why is it slow', 'Tasks', 'Yours'];

/**
 * Return the plots in which each term of a query occurs, in title, description or keywords; those
 * first that are called so.
 */
export function found(plots: readonly IPlot[], query: string): readonly IPlot[] {
  const lower = query.toLocaleLowerCase();
  const terms = lower.split(/\s+/);
  const textOf = ({ name, title, group, description, keywords = [] }: IPlot): string =>
    [name, title, group, description, ...keywords].join(' ').toLocaleLowerCase();
  const isTitled = ({ title }: IPlot): boolean => title.toLocaleLowerCase().includes(lower);
  return plots
    .filter(plot => terms.every(term => textOf(plot).includes(term)))
    .sort((a, b) => +isTitled(b) - +isTitled(a));
}

/**
 * Return the plots that match, in groups, with their texts in the reader's language; favourites are
 * a group of their own before the others. What can have no data is last in its group, and says why.
 */
export function grouped(
  plots: readonly IPlot[],
  query: string,
  favorites: ReadonlySet<string>,
  trans: TranslationBundle
): readonly IPlotGroup[] {
  const translated = plots.map(plot => ({
    ...plot,
    title: trans.gettext(plot.title),
    description: [plot.unavailable ?? '', plot.description]
      .filter(Boolean)
      .map(one => trans.gettext(one))
      .join('\n')
  }));
  const groupOf = (plot: IPlot): string => (favorites.has(plot.name) ? FAVOURITES : plot.group);
  const isLast = ({ unavailable }: IPlot): number => Number(unavailable !== undefined);
  const shown = [...found(translated, query)].sort((a, b) => isLast(a) - isLast(b));
  return [...new Set([FAVOURITES, ...plots.map(({ group }) => group)])]
    .map(name => ({ name, plots: shown.filter(plot => groupOf(plot) === name) }))
    .filter(group => group.plots.length > 0);
}

/** Return what a group is called; those that are not ours come from the dashboard. */
export function groupTitle(name: string, trans: TranslationBundle): string {
  const titles: Readonly<Record<string, string>> = {
    [FAVOURITES]: trans.__('Favourites'),
    [STOCK]: trans.__('Dask’s dashboard')
  };
  return titles[name] ?? trans.gettext(name);
}
