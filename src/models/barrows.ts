/** Which rows a bar chart has: one each, or put together, in which order, under which names. */

export type Merging = 'auto' | 'each' | 'host' | 'alike';
export type Order = 'own' | 'size' | 'name';
/** How rows were put together: like ones, those of a host, or the smallest in one row. */
export type Kind = 'each' | 'alike' | 'host' | 'rest';

export interface IArranged {
  /** The rows of the data that each row of the picture stands for, from the top. */
  readonly rows: readonly (readonly number[])[];
  readonly kind: Kind;
  /** Whether the order is by size, though not asked for: so many rows cannot be read otherwise. */
  readonly isSorted: boolean;
}

export interface IArrangement {
  readonly sizes: ArrayLike<number>;
  readonly names: readonly string[];
  readonly hosts: readonly string[];
  /** How many rows there is room for. */
  readonly fits: number;
  readonly merging: Merging;
  readonly order: Order;
  /** What becomes of rows that do not fit, unless each is asked for. */
  readonly merges: 'mean' | 'sum' | 'none';
}

/** Return the rows of a picture. */
export function arrange(given: IArrangement): IArranged {
  const { sizes, names, hosts, fits, merging, order, merges } = given;
  const n = names.length;
  const own = Array.from({ length: n }, (_, row) => row);
  const bySize = [...own].sort((a, b) => known(sizes[b]) - known(sizes[a]) || a - b);
  const each = (rows: readonly number[]): number[][] => rows.map(row => [row]);
  const isTooMany = n > fits;
  if (merging === 'host' && new Set(hosts).size > 1) {
    return { rows: byHost(bySize, hosts), kind: 'host', isSorted: true };
  }
  if (merges === 'sum' && isTooMany && merging === 'auto') {
    const kept = bySize.slice(0, Math.max(fits - 1, 1));
    const shown = order === 'name' ? byName(kept, names) : kept;
    return { rows: [...each(shown), bySize.slice(kept.length)], kind: 'rest', isSorted: false };
  }
  if (merges === 'mean' && isTooMany && merging !== 'each' && merging !== 'host') {
    return { rows: alike(bySize, Math.max(fits, 1)), kind: 'alike', isSorted: true };
  }
  if (order === 'name') {
    return { rows: each(byName(own, names)), kind: 'each', isSorted: false };
  }
  const isSorted = order === 'own' && isTooMany && merges !== 'none';
  const isOwn = order === 'own' && !isSorted;
  return { rows: each(isOwn ? own : bySize), kind: 'each', isSorted };
}

const known = (value: number | undefined): number =>
  value === undefined || Number.isNaN(value) ? 0 : value;

function byName(rows: readonly number[], names: readonly string[]): number[] {
  return [...rows].sort((a, b) => names[a]!.localeCompare(names[b]!, undefined, { numeric: true }));
}

/** Neighbours in the order of their sizes, in groups as large as each other. */
function alike(sorted: readonly number[], most: number): number[][] {
  const size = Math.ceil(sorted.length / most);
  return Array.from({ length: Math.ceil(sorted.length / size) }, (_, group) =>
    sorted.slice(group * size, (group + 1) * size)
  );
}

/** The rows of each host, in the order of the largest row of each. */
function byHost(sorted: readonly number[], hosts: readonly string[]): number[][] {
  const found = new Map<string, number[]>();
  for (const row of sorted) {
    const host = hosts[row]!;
    found.set(host, [...(found.get(host) ?? []), row]);
  }
  return [...found.values()];
}

const PIECE = /[0-9]+|[A-Za-z]+|[^0-9A-Za-z]/g;

/** Return names without the pieces that begin all of them: of what is cut the ends would differ. */
export function withoutCommonStart(names: readonly string[]): readonly string[] {
  const first = names[0];
  if (first === undefined || new Set(names).size < 2) {
    return names;
  }
  let common = 0;
  for (const piece of first.match(PIECE) ?? []) {
    const end = common + piece.length;
    const next = (name: string): string => name.slice(common).match(PIECE)?.[0] ?? '';
    if (!names.every(name => name.length > end && next(name) === piece)) {
      break;
    }
    common = end;
  }
  return names.map(name => name.slice(common));
}
