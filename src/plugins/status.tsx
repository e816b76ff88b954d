/** The plugin of the status bar: of the clusters of the notebook in front, or all, how many workers there are, what they do, what has failed. */

import { GroupItem, IStatusBar, TextItem } from '@jupyterlab/statusbar';
import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import { Signal, type ISignal } from '@lumino/signaling';
import React from 'react';

import { clustersOf } from '../dashboards/clusters';
import type { IKnownDashboard } from '../dashboards/dashboards';
import { count } from '../models/units';
import type { IRun, ISummary } from '../protocol/dashboard';
import { CommandIDs, NAMESPACE } from '../tokens';
import { warningOf } from '../widgets/binding';
import { diagIcon, warningIcon } from '../widgets/icons';
import { runCommand } from '../widgets/services';
import { addOn, askDashboard, frontKernel, type IContext } from './context';

/** Room that all runs have together, beside what others have in the bar: the rest is in the hint. */
const RUNS_VW = 24;

export const statusPlugin = addOn(
  'status',
  'Shows the workers and tasks of Dask clusters in the status bar.',
  [IStatusBar],
  (context, statusBar) => {
    const { services, notebooks } = context;
    const { dashboards, runs } = services;
    const changed = new Signal<object, void>({});
    const update = (): void => {
      // Only those of the notebook in front tell of their runs: what is watched keeps a kernel awake.
      const ids = ofFront(context, dashboards.all).map(({ id }) => id);
      runs.watch('status', ids, 'slowly');
      changed.emit();
    };
    runs.changed.connect(() => changed.emit());
    dashboards.changed.connect(update);
    notebooks?.currentChanged.connect(update);
    statusBar?.registerStatusItem(`${NAMESPACE}:status`, {
      item: statusItem(context, changed),
      align: 'left',
      rank: 20,
      isActive: () =>
        dashboards.all.some(one => one.state === 'live') || lastRuns(context).length > 0,
      activeStateChanged: changed
    });
  }
);

/** Return the item; it is empty while no cluster is live, nor the notebook in front had a run. */
export function statusItem(context: IContext, changed: ISignal<object, void>): ReactWidget {
  const item = ReactWidget.create(<UseSignal signal={changed}>{() => content(context)}</UseSignal>);
  item.addClass('jp-DaskDiag-status');
  return item;
}

function ofFront(
  { notebooks }: IContext,
  all: readonly IKnownDashboard[]
): readonly IKnownDashboard[] {
  const kernel = frontKernel(notebooks);
  return all.filter(one => kernel !== undefined && one.kernel_id === kernel);
}

/** The last run of each cluster of the notebook in front, also of one whose history is left. */
function lastRuns(context: IContext): readonly (readonly [IKnownDashboard, IRun])[] {
  const { dashboards, runs } = context.services;
  return ofFront(context, dashboards.all).flatMap(one => {
    const run = runs.lastOf(one.id);
    return run ? [[one, run] as const] : [];
  });
}

/** Open a plot of the cluster of the notebook in front, or of several of one that is asked for. */
async function openOf(
  context: IContext,
  plot: string,
  among: readonly IKnownDashboard[]
): Promise<void> {
  const found = await askDashboard(context, undefined, among);
  if (found !== undefined) {
    runCommand(context.services.commands, CommandIDs.openPlot, { plot, dashboard: found.id });
  }
}

function content(context: IContext): JSX.Element | null {
  const { commands, dashboards, trans } = context.services;
  const onClick = (): void => runCommand(commands, CommandIDs.showSidebar);
  const all = clustersOf(dashboards.all).filter(one => one.state === 'live');
  const own = ofFront(context, all);
  const live = own.length > 0 ? own : all;
  const failed = live.filter(one => (one.summary?.tasks?.erred ?? 0) > 0);
  const sum = (numberOf: (summary: ISummary) => number): number =>
    live.reduce((whole, { summary }) => whole + (summary ? numberOf(summary) : 0), 0);
  const workers = sum(one => one.workers);
  const erred = count(sum(one => one.tasks?.erred ?? 0));
  const hit = live.filter(one => warningOf(one, trans) !== '');
  const lost = sum(one => one.losses?.workers ?? 0);
  const died = trans._n('%2 worker died', '%2 workers died', lost, count(lost));
  const causes = hit.map(one => warningOf(one, trans)).join('\n');
  const why = trans.__(
    'Show which tasks failed, and why; Progress also counts those that are erred no more'
  );
  const warnings = [
    ['exceptions', failed, trans.__('%1 erred', erred), why],
    ['events', hit, lost > 0 ? died : trans.__('no workers'), causes]
  ] as const;
  const parts = [
    live.length > 1 ? trans.__('%1 clusters', live.length) : '',
    // One of Dask's own does not always tell what it has.
    live.some(one => one.summary)
      ? trans._n('%2 worker', '%2 workers', workers, count(workers))
      : (live[0]?.shownName ?? ''),
    // Nor does it tell its tasks: what is only known of some is not said of all.
    live.every(one => one.summary?.tasks)
      ? trans.__('%1 processing', count(sum(one => one.tasks?.processing ?? 0)))
      : ''
  ];
  const ended = lastRuns(context).map(([{ id: dashboard, shownName }, run]) => {
    const failed = run.failed > 0 ? trans.__('%1 failed', count(run.failed)) : '';
    return { dashboard, shownName, run, line: [failed, run.line].filter(Boolean).join(' · ') };
  });
  const names = live.map(one => one.shownName).join('\n');
  return live.length + ended.length === 0 ? null : (
    <GroupItem spacing={8}>
      {live.length > 0 && (
        <button className="jp-DaskDiag-statusButton" title={names} onClick={onClick}>
          <diagIcon.react tag="span" />
          <TextItem source={parts.filter(Boolean).join(' · ')} />
        </button>
      )}
      {ended.map(({ dashboard, shownName, run, line }) => (
        <button
          key={dashboard}
          className="jp-DaskDiag-statusButton"
          style={{ maxWidth: `${RUNS_VW / ended.length}vw` }}
          title={`${run.name}\n${line}\n${trans.__('Show this run in all open plots of its cluster')}`}
          onClick={() => runCommand(commands, CommandIDs.showRun, { dashboard, run: run.number })}
        >
          <TextItem
            source={
              (ended.length > 1 ? `${shownName} · ` : '') +
              (run.count > 0 ? trans.__('cell [%1]: %2', run.count, line) : `${run.name}: ${line}`)
            }
          />
        </button>
      ))}
      {warnings
        .filter(([, about]) => about.length > 0)
        .map(([plot, about, label, title]) => (
          <button
            key={plot}
            className="jp-DaskDiag-statusButton"
            title={title}
            onClick={() => void openOf(context, plot, about)}
          >
            <warningIcon.react tag="span" />
            <TextItem source={label} />
          </button>
        ))}
    </GroupItem>
  );
}
