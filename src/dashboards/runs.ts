/** The last runs of the clusters that somebody looks at, and which one the plots of each show. */

import { Signal, type ISignal } from '@lumino/signaling';

import { runsOf, type IRun } from '../protocol/dashboard';
import type { Server } from '../transport/server';
import type { PlotStream } from '../transport/stream';
import type { IDashboards, IKnownDashboard } from './dashboards';

/** A run that is shorter has no line in the status bar (s). */
const BRIEF_S = 2;
/** Nobody waits longer for a busy kernel to say which others there are. */
const LATE_MS = 2_000;

export class RunsModel {
  constructor(
    private readonly _dashboards: IDashboards,
    private readonly _server: Pick<Server, 'relayed'>
  ) {
    _dashboards.changed.connect(this._follow, this);
    document.addEventListener('visibilitychange', () => this._follow());
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The last runs of a dashboard, the newest first; none before somebody has looked. */
  of(dashboard: string): readonly IRun[] {
    return this._runs.get(dashboard) ?? [];
  }

  /** All runs that a dashboard keeps, the newest first; of one that does not answer, the last. */
  async all(dashboard: string): Promise<readonly IRun[]> {
    if (!hasRuns(this._dashboards.get(dashboard))) {
      return [];
    }
    const answer = this._server.relayed(dashboard).get('runs.json?brief=1');
    const known = new Promise<readonly IRun[]>(resolve => {
      setTimeout(() => resolve(this.of(dashboard)), LATE_MS);
    });
    return Promise.race([answer.then(runsOf).catch(() => this.of(dashboard)), known]);
  }

  /** The newest run of a cell that kept the cluster busy for some seconds and is over. */
  lastOf(dashboard: string): IRun | undefined {
    const isLong = ({ start, stop }: IRun): boolean => (stop ?? start) - start > BRIEF_S;
    return this.of(dashboard).find(one => one.is_own && one.cell !== '' && isLong(one));
  }

  /** The number of the run that all plots of a dashboard show, if they do. */
  selected(dashboard: string): number | undefined {
    const selection = this._streams.get(dashboard)?.selection;
    return selection && 'run' in selection ? selection.run : undefined;
  }

  /** Say which runs of which dashboards are compared, and by whom. */
  setCompared(
    runs: readonly (readonly [dashboard: string, run: number])[],
    by: object | null
  ): void {
    [this._compared, this._comparedBy] = [runs, by];
    this._changed.emit();
  }

  /** Forget what is compared, if it is by this; tell whether it was. */
  forgetCompared(by: object): boolean {
    const isIts = this._comparedBy === by;
    if (isIts) {
      this.setCompared([], null);
    }
    return isIts;
  }

  /** Whether all plots of a dashboard show a run, or it is compared with another one. */
  isShown(dashboard: string, run: number): boolean {
    const selected = this.selected(dashboard);
    const isCompared = this._compared.some(([id, number]) => id === dashboard && number === run);
    return selected === undefined ? isCompared : selected === run;
  }

  /**
   * What a run would be compared with: a dashboard whose plots show one, this one if it does, and
   * the number of that; else the later one of those that are compared.
   */
  besides(dashboard: string, run: number): readonly [string, number] | undefined {
    const ids = [dashboard, ...this._streams.keys()];
    const id = ids.find(one => this.selected(one) !== undefined);
    const others = this._compared.filter(([of, number]) => of !== dashboard || number !== run);
    return id === undefined ? others[others.length - 1] : [id, this.selected(id) ?? 0];
  }

  /** Have all plots of a dashboard show a run, or what goes on. */
  select(dashboard: string, run: number | null): void {
    this._server.relayed(dashboard).stream.select(run === null ? null : { run });
  }

  /** Follow the runs of some dashboards for one who looks: closely (while the page is seen), or a line in a corner. */
  watch(watcher: string, dashboards: readonly string[], how: 'closely' | 'slowly'): void {
    this._watchers.set(watcher, { dashboards, how });
    this._follow();
  }

  private _follow(): void {
    const wanted = new Map<string, 'closely' | 'slowly'>();
    for (const { dashboards, how } of this._watchers.values()) {
      dashboards
        .filter(id => hasRuns(this._dashboards.get(id)))
        .forEach(id => wanted.get(id) === 'closely' || wanted.set(id, how));
    }
    for (const [id, stream] of this._streams) {
      if (!wanted.has(id) || stream !== this._server.relayed(id).stream) {
        stream.followRuns(null);
        stream.onRuns = () => undefined;
        this._streams.delete(id);
      }
    }
    for (const [id, how] of wanted) {
      const { stream } = this._server.relayed(id);
      this._streams.set(id, stream);
      stream.onRuns = runs => {
        this._runs.set(id, runs);
        this._changed.emit();
      };
      stream.followRuns(document.hidden ? 'slowly' : how);
    }
  }

  private _compared: readonly (readonly [dashboard: string, run: number])[] = [];
  private _comparedBy: object | null = null;
  private readonly _runs = new Map<string, readonly IRun[]>();
  private readonly _streams = new Map<string, PlotStream>();
  private readonly _watchers = new Map<
    string,
    { readonly dashboards: readonly string[]; readonly how: 'closely' | 'slowly' }
  >();
  private readonly _changed = new Signal<this, void>(this);
}

/** Whether a dashboard tells of runs: one of ours that is there, or whose history or recording is. */
function hasRuns(dashboard: IKnownDashboard | undefined): boolean {
  const { kind, state, closed_at: closed, is_removable: isRecording } = dashboard ?? {};
  return (
    kind === 'diagnostics' && (state === 'live' || closed !== undefined || isRecording === true)
  );
}
