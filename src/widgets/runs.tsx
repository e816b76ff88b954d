/** The last runs of a cluster: a row each in the sidebar, and a line in the status bar. */

import type { TranslationBundle } from '@jupyterlab/translation';
import React from 'react';

import { count } from '../models/units';
import type { IDashboard, IRun } from '../protocol/dashboard';
import { CommandIDs } from '../tokens';
import { runCommand, type IPlotServices } from './services';

/** Rows of the sidebar, of a cluster and of a recording; a run that is shown has one in any case. */
const MOST = 5;
const MOST_RECORDED = 20;

/** What is drawn of a budget: what threads did. The rest of the bar is what they did not. */
const PARTS = [
  ['computing', 'var(--jp-success-color1)'],
  ['waiting-in-tasks', 'var(--jp-warn-color1)'],
  ['failed', 'var(--jp-error-color1)'],
  ['deserialize', 'var(--jp-layout-color4)'],
  ['other-runs', 'var(--jp-layout-color4)']
] as const;

const STATES: Readonly<Record<IRun['state'], string>> = {
  running: '●',
  done: '',
  failed: '✕',
  cancelled: '–'
};

/** Return what a run is called: as its cell or its block. */
export function runLabel({ name, count: number }: IRun, trans: TranslationBundle): string {
  return number > 0 ? trans.__('[%1] %2', number, name) : name;
}

/** The last runs of a dashboard, the newest first; null where there was none. */
export function runList(
  services: Pick<IPlotServices, 'commands' | 'runs' | 'trans'>,
  { id: dashboard, is_removable: isRecording }: Pick<IDashboard, 'id' | 'is_removable'>,
  known: readonly IRun[]
): JSX.Element | null {
  const { commands, runs, trans } = services;
  const selected = runs.selected(dashboard);
  const most = isRecording ? MOST_RECORDED : MOST;
  const shown = known.filter(({ number }, at) => at < most || runs.isShown(dashboard, number));
  const live = trans.__('Live');
  return shown.length === 0 ? null : (
    <div className="jp-DaskDiag-runs">
      <h4>
        {trans.__('Runs')}
        {selected !== undefined && (
          <button
            title={trans.__('Show in all plots what goes on')}
            onClick={() => runs.select(dashboard, null)}
          >
            {live}
          </button>
        )}
        {selected !== undefined && (
          <button
            title={trans.__('Show what differs between this run and another one')}
            onClick={() =>
              runCommand(commands, CommandIDs.compareRuns, { dashboard, run: selected })
            }
          >
            {trans.__('Compare…')}
          </button>
        )}
      </h4>
      <ul aria-label={trans.__('Runs')}>
        {shown.map(run => {
          const label = runLabel(run, trans);
          const text = describe(run, trans);
          return (
            <li key={run.number} data-run={run.number} data-state={run.state}>
              <button
                className="jp-DaskDiag-runButton"
                aria-pressed={runs.isShown(dashboard, run.number)}
                title={`${label}\n${text}\n${trans.__('Show this run in all open plots of its cluster')}\n${trans.__('With Ctrl: compare it with the one that is shown')}`}
                onClick={({ ctrlKey, metaKey, shiftKey }) => {
                  const args = { dashboard, run: run.number };
                  const [otherDashboard, other] = runs.besides(dashboard, run.number) ?? [];
                  if ((ctrlKey || metaKey || shiftKey) && other && selected !== run.number) {
                    const second = { other, otherDashboard: otherDashboard ?? dashboard };
                    runCommand(commands, CommandIDs.compareRuns, { ...args, ...second });
                  } else {
                    runCommand(commands, CommandIDs.showRun, args);
                  }
                }}
              >
                <span className="jp-DaskDiag-runName">
                  {STATES[run.state] && <span aria-hidden="true">{STATES[run.state]} </span>}
                  {run.findings > 0 && <span aria-hidden="true">⚠ </span>}
                  {label}
                </span>
                <small>{text}</small>
                {budgetBar(run)}
              </button>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** How long it took, what there is to say of that, and how many tasks it had. */
function describe(
  { line, state, tasks, submitted, failed }: IRun,
  trans: TranslationBundle
): string {
  const done =
    state === 'running' && submitted > tasks
      ? trans.__('%1 of %2 tasks', count(tasks), count(submitted))
      : trans._n('%2 task', '%2 tasks', tasks, count(tasks));
  const hasNone = state === 'done' && tasks + submitted + failed === 0;
  const parts = [
    line,
    hasNone ? trans.__('its results were there already') : done,
    failed > 0 ? trans.__('%1 failed', count(failed)) : '',
    state === 'cancelled' ? trans.__('cancelled') : ''
  ];
  return parts.filter(Boolean).join(' · ');
}

function budgetBar({ budget, offered_s: offered }: IRun): JSX.Element {
  return (
    <span className="jp-DaskDiag-runBar" aria-hidden="true">
      {PARTS.map(([category, background]) => {
        const share = (budget[category] ?? 0) / (offered || 1);
        return <span key={category} style={{ background, width: `${100 * share}%` }} />;
      })}
    </span>
  );
}
