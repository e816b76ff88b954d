/** Which cluster a plot follows, and how several are told apart; the same in Lab and in pages. */

/** As much of a dashboard as is asked here. */
export interface ICluster {
  readonly id: string;
  /** That of the cluster, else of its notebook. */
  readonly name: string;
  readonly kind: string;
  readonly state: string;
  readonly kernel_id: string | null;
  readonly shown_with?: string | undefined;
  readonly cell?: readonly string[] | undefined;
  /** The path of its notebook, where the page knows of notebooks. */
  readonly notebook?: string | null;
}

/** A cluster of a notebook, by which the places of the others there are counted. */
export type Peer = Readonly<Pick<ICluster, 'id' | 'name' | 'cell'>>;

/** Where a plot belongs. */
export interface IOrigin {
  readonly dashboard: string;
  /** The kind of the dashboard: one of ours where it is not said. */
  readonly kind?: 'diagnostics' | 'stock';
  readonly kernel: string | null;
  readonly notebook: string | null;
  /** The clusters that its notebook had together with its own, which is one of them, in order. */
  readonly peers?: readonly Peer[];
  /** Whether the plot stays with its own while that lives. */
  readonly isFrozen?: boolean | undefined;
}

/**
 * Return the dashboard that a plot shows: its own until that has ended, or its cell has run again;
 * then the new one in its place in the same kernel, else in the same notebook: that of its name,
 * where several have that name that of its cell, else the one that is the same in order. One that
 * was there beside its own is not new.
 *
 * @param all - in the order in which they began.
 */
export function clusterFor<T extends ICluster>(origin: IOrigin, all: readonly T[]): T | undefined {
  const own = all.find(one => one.id === origin.dashboard);
  if (own !== undefined && own.state !== 'stale') {
    return origin.isFrozen === true ? own : afterRerun(origin, own, all);
  }
  const found = newClusters(origin, all);
  const isLive = ({ id }: Peer): boolean => all.some(one => one.id === id && one.state === 'live');
  const gone = (origin.peers ?? []).filter(one => !isLive(one));
  const self = gone.find(({ id }) => id === origin.dashboard);
  if (self === undefined) {
    // Without peers it was opened when its own had ended already, unless it had none yet.
    const isOfEnded = own !== undefined && origin.peers === undefined;
    return isOfEnded ? own : (found[found.length - 1] ?? own);
  }
  const has = (list: readonly Peer[], { name }: Peer): boolean =>
    list.some(one => one.name === name);
  const isBack = has(found, self);
  // One of another name takes a place once all are back, and only what has no better right to it.
  const isAlike = (one: Peer): boolean =>
    isBack ? one.name === self.name : !(has(found, one) && has(gone, one));
  const [places, next] = [gone.filter(isAlike), found.filter(isAlike)];
  const ofCell = (list: readonly Peer[], { cell }: Peer): number =>
    list.filter(one => cell !== undefined && one.cell?.[0] === cell[0]).length;
  // A cell that has made more than before tells nothing.
  const isTold = (one: Peer): boolean =>
    ofCell(next, one) > 0 && ofCell(next, one) <= ofCell(places, one);
  const isOfCell = (one: Peer): boolean => (isTold(self) ? ofCell([one], self) > 0 : !isTold(one));
  const isKnown = isBack || found.length >= gone.length;
  return (isKnown && next.filter(isOfCell)[places.filter(isOfCell).indexOf(self)]) || own;
}

/** Return the new one in the place of a cluster whose cell has run again; else the same. */
function afterRerun<T extends ICluster>({ peers }: IOrigin, own: T, all: readonly T[]): T {
  const [cell] = own.cell ?? [];
  const ofCell = all.filter(
    one => one.state !== 'stale' && one.kernel_id === own.kernel_id && one.cell?.[0] === cell
  );
  const ofRun = (run?: string): T[] => ofCell.filter(one => one.cell?.[1] === run);
  const next = ofRun(ofCell.at(-1)?.cell?.[1])[ofRun(own.cell?.[1]).indexOf(own)];
  return next && cell !== undefined && peers?.every(({ id }) => id !== next.id) ? next : own;
}

/** Return the clusters of a plot's kernel, else of its notebook, that were not beside its own. */
export function newClusters<T extends ICluster>(origin: IOrigin, all: readonly T[]): readonly T[] {
  const { kind = 'diagnostics', kernel, notebook, peers = [] } = origin;
  const fresh = all.filter(
    one => one.state === 'live' && one.kind === kind && !peers.some(({ id }) => id === one.id)
  );
  const ofKernel = fresh.filter(one => one.kernel_id !== null && one.kernel_id === kernel);
  return ofKernel.length > 0
    ? ofKernel
    : fresh.filter(one => one.notebook != null && one.notebook === notebook);
}

/** Return the clusters by which the place of a plot is found again, once its own has ended. */
export function peersOf(origin: IOrigin, own: ICluster, all: readonly ICluster[]): readonly Peer[] {
  const { dashboard, peers = [] } = origin;
  const at = peers.findIndex(({ id }) => id === dashboard);
  if (own.state === 'stale' && own.id === dashboard && at >= 0) {
    return peers; // who comes now is new
  }
  const there = all.filter(
    ({ id, state, kind, kernel_id, notebook }) =>
      id === own.id ||
      (state !== 'stale' &&
        kind === own.kind &&
        ((kernel_id !== null && kernel_id === own.kernel_id) ||
          (notebook != null && notebook === own.notebook)))
  );
  // Those before it keep their places also after their end: a kernel's clusters go one by one.
  const earlier = peers.slice(0, Math.max(at, 0));
  const others = there.filter(({ id }) => id !== own.id && earlier.every(peer => peer.id !== id));
  const rest = at < 0 ? there : [own, ...others];
  return [...earlier, ...rest.map(({ id, name, cell }) => ({ id, name, cell }))];
}

/** Return one dashboard of each cluster: without Dask's own where it is listed with ours. */
export function clustersOf<T extends ICluster>(all: readonly T[]): readonly T[] {
  return all.filter(one => !all.some(({ id }) => id === one.shown_with));
}

const COLORS = 6;

export interface IClusterTag {
  readonly letter: string;
  readonly color: number;
}

/** The mark by which clusters are told apart, and whose it is. */
export interface ITag extends IClusterTag {
  readonly title: string;
}

/** The tags of the clusters whose plots are open. */
export class ClusterTags {
  get(id: string): IClusterTag | undefined {
    return this._byId.get(id);
  }

  /**
   * Give a tag to each cluster that differs from all others: a letter or two of its name, and a
   * colour that follows from its name while that is free. Those who had one keep it.
   */
  update(clusters: readonly Pick<ICluster, 'id' | 'name'>[]): void {
    const isThere = (id: string): boolean => clusters.some(one => one.id === id);
    this._byId = new Map([...this._byId].filter(([id]) => isThere(id)));
    for (const { id, name } of clusters.filter(one => !this._byId.has(one.id))) {
      this._byId.set(id, this._newTag(name));
    }
  }

  private _newTag(name: string): IClusterTag {
    const used = [...this._byId.values()];
    const plain = name.replace(/\.ipynb/, '').replace(/[^\p{L}\p{N}]/gu, '');
    const [first = 'D', ...others] = plain.toLocaleUpperCase();
    const digits = others.filter(one => /\d/.test(one));
    const letters = [first, ...[...digits, ...others, ...'23456789'].map(one => first + one)];
    const hash = [...name].reduce((sum, char) => (sum * 31 + (char.codePointAt(0) ?? 0)) % 9973, 0);
    const colors = Array.from({ length: COLORS }, (_, i) => (hash + i) % COLORS);
    return {
      letter: letters.find(one => used.every(({ letter }) => letter !== one)) ?? first,
      color: colors.find(one => used.every(({ color }) => color !== one)) ?? hash % COLORS
    };
  }

  private _byId = new Map<string, IClusterTag>();
}
