/** The contract's fixtures, and a list of dashboards that a test sets. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';

import type { FeedState, IDashboards, IKnownDashboard } from '../dashboards/dashboards';
import { dashboardsOf, type IRun } from '../protocol/dashboard';
import type { ITag } from '../dashboards/clusters';
import { ClusterTags } from '../dashboards/clusters';

const FIXTURES = join(__dirname, '../../tests/contract/fixtures');

export function fixture(path: string): unknown {
  return JSON.parse(readFileSync(join(FIXTURES, path), 'utf8'));
}

export function fixtureNames(folder: string): string[] {
  return readdirSync(join(FIXTURES, folder)).filter(name => name.endsWith('.json'));
}

/** Dask's own dashboard of the fixtures, with other values where given. */
export function stock(values: Partial<IKnownDashboard> = {}): IKnownDashboard {
  const base = dashboardsOf(fixture('dashboards/stock.json'))[0]!;
  return { ...base, shownName: base.name, notebook: null, ...values };
}

/** The live dashboard of the fixtures, with other values where given. */
export function dashboard(values: Partial<IKnownDashboard> = {}): IKnownDashboard {
  const base = dashboardsOf(fixture('dashboards/live.json'))[0]!;
  return { ...base, shownName: base.name, notebook: base.name, ...values };
}

/** A run of a cell. */
export const RUN: IRun = {
  number: 3,
  name: 'x.compute()',
  cell: 'c1',
  count: 12,
  is_own: true,
  state: 'done',
  start: 100,
  stop: 142,
  tasks: 10,
  submitted: 10,
  failed: 0,
  offered_s: 168,
  budget: { computing: 65 },
  findings: 1,
  line: '42.0 s · 61 % idle'
};

export class DashboardList implements IDashboards {
  readonly changed = new Signal<this, void>(this);
  all: readonly IKnownDashboard[] = [];
  feedState: FeedState = 'live';
  problem = '';
  isKnown = true;
  isAsking = false;
  connections = 1;

  get(id: string): IKnownDashboard | undefined {
    return this.all.find(one => one.id === id);
  }

  tag(id: string): ITag | null {
    const tags = new ClusterTags();
    tags.update(this.all);
    const tag = tags.get(id);
    return this.all.length < 2 || !tag ? null : { ...tag, title: id };
  }

  setShown(): void {
    // Here all are.
  }

  set(...all: IKnownDashboard[]): void {
    this.all = all;
    this.changed.emit();
  }
}

export const trans = nullTranslator.load('dask_diag_lab');
