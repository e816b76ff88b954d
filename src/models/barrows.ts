/** Which rows a bar chart has: one each, or put together, and in which order. */

export interface IArranged {
  /** The rows of the data that each row of the picture stands for, from the top. */
  readonly rows: readonly (readonly number[])[];
  /** How rows were put together: like ones, those of a host, or the smallest in one row. */
  readonly kind: 'each' | 'alike' | 'host' | 'rest';
  /** Whether rows are in the order of size, as too many to be read by name always are. */
  readonly isSorted: boolean;
}

export interface IArrangement {
  readonly sizes: ArrayLike<number>;
  readonly names: readonly string[];
  readonly hosts: readonly string[];
  /** How many rows there is room for. */
  readonly fits: number;
  readonly merging: 'auto' | 'each' | 'host';
  readonly order: 'own' | 'size' | 'name';
  /** What becomes of rows that do not fit, unless each is asked for. */
  readonly merges: 'mean' | 'sum' | 'none';
}

/** Return the rows of a picture. */
export function arrange(given: IArrangement): IArranged {
  const { sizes, names, hosts, fits, merging, order, merges } = given;
  const own = names.map((_, row) => row);
  const bySize = [...own].sort((a, b) => (sizes[b] || 0) - (sizes[a] || 0));
  const byName = (rows: readonly number[]): number[] =>
    [...rows].sort((a, b) => names[a]!.localeCompare(names[b]!, undefined, { numeric: true }));
  const each = (rows: readonly number[]): number[][] => rows.map(row => [row]);
  const isTooMany = names.length > fits;
  if (merging === 'host') {
    return { rows: byHost(bySize, hosts), kind: 'host', isSorted: true };
  }
  if (isTooMany && merging === 'auto' && merges === 'sum') {
    const kept = bySize.slice(0, Math.max(fits - 1, 1));
    const rest = bySize.slice(kept.length);
    const shown = order === 'name' ? byName(kept) : kept;
    return { rows: [...each(shown), rest], kind: 'rest', isSorted: false };
  }
  if (isTooMany && merging === 'auto' && merges === 'mean') {
    const size = Math.ceil(bySize.length / fits);
    const groups = Array.from({ length: Math.ceil(bySize.length / size) }, (_, at) =>
      bySize.slice(at * size, (at + 1) * size)
    );
    return { rows: groups, kind: 'alike', isSorted: true };
  }
  if (order === 'name') {
    return { rows: each(byName(own)), kind: 'each', isSorted: false };
  }
  const isSorted = order === 'own' && isTooMany && merges !== 'none';
  return { rows: each(order === 'size' || isSorted ? bySize : own), kind: 'each', isSorted };
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
