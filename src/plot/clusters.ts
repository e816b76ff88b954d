/** Which cluster a plot follows, and how several are told apart; the same in Lab and in pages. */

/** As much of a dashboard as is asked here. */
export interface ICluster {
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  readonly kernel_id: string | null;
  readonly shown_with?: string | undefined;
  /** The path of its notebook, where the page knows of notebooks. */
  readonly notebook?: string | null;
}

/** Where a plot belongs. */
export interface IOrigin {
  readonly dashboard: string;
  /** The kind of the dashboard: one of ours where it is not said. */
  readonly kind?: 'diagnostics' | 'stock';
  readonly kernel: string | null;
  readonly notebook: string | null;
}

/**
 * Return the dashboard that a plot shows: its own until that has ended, then the newest live one of
 * the same kind and kernel, else of the same notebook; undefined when there is none.
 *
 * @param all - in the order in which they began.
 */
export function clusterFor<T extends ICluster>(origin: IOrigin, all: readonly T[]): T | undefined {
  const own = all.find(one => one.id === origin.dashboard);
  if (own !== undefined && own.state !== 'stale') {
    return own;
  }
  const live = all.filter(
    one => one.state === 'live' && one.kind === (origin.kind ?? 'diagnostics')
  );
  const ofKernel = live.filter(one => one.kernel_id !== null && one.kernel_id === origin.kernel);
  const ofNotebook = live.filter(one => one.notebook != null && one.notebook === origin.notebook);
  return ofKernel.pop() ?? ofNotebook.pop() ?? own;
}

/** Return one dashboard a cluster: not those that are listed in the entry of another one. */
export function clustersOf<T extends ICluster>(all: readonly T[]): readonly T[] {
  return all.filter(one => !all.some(({ id }) => id === one.shown_with));
}

const COLORS = 6;
const LETTERS = 'ABCDEFGHJKLMNPRSTUVWXYZ'; // without those that look alike

/** Return a cluster's letter and colour number, which follow from its id: the same everywhere. */
export function tagOf(id: string): { readonly letter: string; readonly color: number } {
  let hash = 0;
  for (const char of id) {
    hash = (Math.imul(hash, 31) + (char.codePointAt(0) ?? 0)) >>> 0;
  }
  const letter = LETTERS[Math.floor(hash / COLORS) % LETTERS.length] ?? 'A';
  return { letter, color: hash % COLORS };
}
