/** The clusters in the status bar: how many workers there are, what they do, what has failed. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { GroupItem, TextItem } from '@jupyterlab/statusbar';
import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import React from 'react';

import type { IDashboards, IKnownDashboard } from '../api/dashboards';
import { formatCount } from '../plot/format';
import { diagIcon, warningIcon } from './icons';

export interface IStatusItemOptions {
  readonly dashboards: IDashboards;
  readonly trans: TranslationBundle;
  readonly onClick: () => void;
  /** Shows the failures of these dashboards. */
  readonly onErred: (dashboards: readonly IKnownDashboard[]) => void;
}

/** Return the item; it is empty while no cluster is live. */
export function statusItem(options: IStatusItemOptions): ReactWidget {
  const item = ReactWidget.create(
    <UseSignal signal={options.dashboards.changed}>{() => <Status {...options} />}</UseSignal>
  );
  item.addClass('jp-DaskDiag-status');
  return item;
}

function Status({ dashboards, trans, onClick, onErred }: IStatusItemOptions): JSX.Element | null {
  const live = dashboards.all.filter(one => one.state === 'live');
  const erred = live.filter(one => (one.summary?.tasks.erred ?? 0) > 0);
  if (live.length === 0) {
    return null;
  }
  const text = textOf(live, trans);
  const lines = live.map(one => `${one.shownName}: ${textOf([one], trans)}`);
  const failed = trans.__(
    '%1 erred',
    formatCount(sum(erred.map(one => one.summary?.tasks.erred ?? 0)))
  );
  return (
    <GroupItem spacing={8}>
      <button className="jp-DaskDiag-statusButton" title={lines.join('\n')} onClick={onClick}>
        <diagIcon.react tag="span" />
        <TextItem
          source={live.length > 1 ? trans.__('%1 clusters: %2', live.length, text) : text}
        />
      </button>
      {erred.length > 0 && (
        <button
          className="jp-DaskDiag-statusButton"
          title={trans.__('Show which tasks failed, and why')}
          onClick={() => onErred(erred)}
        >
          <warningIcon.react tag="span" />
          <TextItem source={failed} />
        </button>
      )}
    </GroupItem>
  );
}

function sum(parts: readonly number[]): number {
  return parts.reduce((a, b) => a + b, 0);
}

/** What dashboards have and do, together. */
function textOf(dashboards: readonly IKnownDashboard[], trans: TranslationBundle): string {
  const workers = sum(dashboards.map(one => one.summary?.workers ?? 0));
  const processing = sum(dashboards.map(one => one.summary?.tasks.processing ?? 0));
  return [
    trans._n('%2 worker', '%2 workers', workers, formatCount(workers)),
    trans.__('%1 processing', formatCount(processing))
  ].join(' · ');
}
