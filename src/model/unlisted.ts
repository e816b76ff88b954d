/** Plots that a dashboard lists only once a worker has something to show of them; pure. */

import type { ITranslate } from '../api/words';
import type { IPlot } from '../wire';

interface IUnlisted {
  readonly plot: string;
  /** Words that people search them by. */
  readonly words: readonly string[];
  readonly why: (trans: ITranslate) => string;
}

const UNLISTED: readonly IUnlisted[] = [
  {
    plot: 'rmm-memory',
    words: ['rmm', 'rapids', 'allocator', 'pool', 'memory'],
    why: trans =>
      trans.__('RMM: no worker reports its memory. The plot of it is listed as soon as one does.')
  },
  {
    plot: 'gpu-memory',
    words: 'gpu cuda nvidia nvml vram graphics card memory utilization'.split(' '),
    why: trans => trans.__('GPU: no worker reports one. Its plots are listed as soon as one does.')
  }
];

/** Fewer letters begin too many words. */
const SHORTEST = 3;

/**
 * Return why a search finds nothing that there is otherwise, in words; '' where it is no such.
 *
 * @param listed - the plots of all dashboards.
 */
export function whyUnlisted(query: string, listed: readonly IPlot[], trans: ITranslate): string {
  const typed = query.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const isMeant = ({ plot, words }: IUnlisted): boolean =>
    listed.every(({ name }) => name !== plot) &&
    typed.every(
      one => one.length >= SHORTEST && words.some(word => word.startsWith(singular(one)))
    );
  return UNLISTED.find(isMeant)?.why(trans) ?? '';
}

function singular(word: string): string {
  return word.length > SHORTEST ? word.replace(/s$/, '') : word;
}
