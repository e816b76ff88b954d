/** The clusters of the notebook in front, or all, in the status bar: how many workers there are, what they do, what has failed. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { GroupItem, TextItem } from '@jupyterlab/statusbar';
import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import type { ISignal } from '@lumino/signaling';
import React from 'react';

import { clustersOf } from '../dashboards/clusters';
import type { IKnownDashboard } from '../dashboards/dashboards';
import { clock, count } from '../models/units';
import type { ISummary } from '../protocol/dashboard';
import { CommandIDs } from '../tokens';
import { diagIcon, warningIcon } from './icons';
import { runCommand, type IPlotServices } from './services';

export interface IStatusItemOptions {
  /** Of these dashboards those of the notebook in front, or of all where it has none. */
  readonly inFront: (all: readonly IKnownDashboard[]) => readonly IKnownDashboard[];
  readonly changed: ISignal<unknown, void>;
  readonly services: Pick<IPlotServices, 'commands' | 'dashboards' | 'runs' | 'trans'>;
  /** Shows the plot that explains a warning about these dashboards. */
  readonly onWarning: (plot: string, dashboards: readonly IKnownDashboard[]) => void;
}

/** Return the item; it is empty while no cluster is live. */
export function statusItem(options: IStatusItemOptions): ReactWidget {
  const item = ReactWidget.create(
    <UseSignal signal={options.changed}>{() => content(options)}</UseSignal>
  );
  item.addClass('jp-DaskDiag-status');
  return item;
}

/** Say how workers of a live cluster died, and that none are left for its tasks; '' for neither. */
export function troubleOf({ state, summary }: IKnownDashboard, trans: TranslationBundle): string {
  const { total = 0, done = 0, erred = 0 } = summary?.tasks ?? {};
  const isStuck = summary?.workers === 0 && total > done + erred;
  const { text = '', time = 0 } = summary?.losses ?? {};
  const died = text && `${clock(time).slice(0, 8)} · ${text}`;
  const parts = [isStuck ? trans.__('no workers') : '', died].filter(Boolean);
  return state === 'live' ? parts.join(' · ') : '';
}

function content({ services, inFront, onWarning }: IStatusItemOptions): JSX.Element | null {
  const { commands, dashboards, runs, trans } = services;
  const onClick = (): void => runCommand(commands, CommandIDs.showSidebar);
  const live = inFront(clustersOf(dashboards.all).filter(one => one.state === 'live'));
  const failed = live.filter(one => (one.summary?.tasks?.erred ?? 0) > 0);
  const sum = (numberOf: (summary: ISummary) => number): number =>
    live.reduce((all, { summary }) => all + (summary ? numberOf(summary) : 0), 0);
  const workers = sum(one => one.workers);
  const erred = count(sum(one => one.tasks?.erred ?? 0));
  const hit = live.filter(one => troubleOf(one, trans) !== '');
  const lost = sum(one => one.losses?.workers ?? 0);
  const died = trans._n('%2 worker died', '%2 workers died', lost, count(lost));
  const causes = hit.map(one => troubleOf(one, trans)).join('\n');
  const why = trans.__('Show which tasks failed, and why');
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
  const ended = live.flatMap(({ id: dashboard }) => {
    const run = runs.lastOf(dashboard);
    return run ? [{ dashboard, run }] : [];
  });
  const names = live.map(one => one.shownName).join('\n');
  return live.length === 0 ? null : (
    <GroupItem spacing={8}>
      <button className="jp-DaskDiag-statusButton" title={names} onClick={onClick}>
        <diagIcon.react tag="span" />
        <TextItem source={parts.filter(Boolean).join(' · ')} />
      </button>
      {ended.map(({ dashboard, run }) => (
        <button
          key={dashboard}
          className="jp-DaskDiag-statusButton"
          title={`${run.name}\n${trans.__('Show this run in all open plots of its cluster')}`}
          onClick={() => runCommand(commands, CommandIDs.showRun, { dashboard, run: run.number })}
        >
          <TextItem
            source={
              run.count > 0
                ? trans.__('cell [%1]: %2', run.count, run.line)
                : `${run.name}: ${run.line}`
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
            onClick={() => onWarning(plot, about)}
          >
            <warningIcon.react tag="span" />
            <TextItem source={label} />
          </button>
        ))}
    </GroupItem>
  );
}
