/** The contract's fixtures and what tests make of them. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';

import type { FeedState } from '../api/feed';
import type { ISeen } from '../model/binding';
import type { IDashboards, IKnownDashboard } from '../model/dashboards';
import { dashboardsOf, type IDashboard } from '../wire';

const FIXTURES = join(__dirname, '../../tests/contract/fixtures');

export function fixture(path: string): unknown {
  return JSON.parse(readFileSync(join(FIXTURES, path), 'utf8'));
}

export function fixtureNames(folder: string): string[] {
  return readdirSync(join(FIXTURES, folder)).filter(name => name.endsWith('.json'));
}

/** The one live dashboard of the fixtures, with other values where given. */
export function dashboard(values: Partial<IDashboard> = {}): IDashboard {
  return { ...dashboardsOf(fixture('dashboards/live.json'))[0]!, ...values };
}

export function known(values: Partial<IKnownDashboard> = {}): IKnownDashboard {
  const base = dashboard(values);
  const own = {
    shownName: base.name,
    notebook: base.name,
    tag: 0,
    firstSeen: 1000,
    lastLive: 2000
  };
  return { ...own, ...base, ...values };
}

/** A list of dashboards that a test sets. */
export class DashboardList implements IDashboards {
  readonly changed = new Signal<this, void>(this);
  all: readonly IKnownDashboard[] = [];
  feedState: FeedState = 'live';
  problem = '';
  isKnown = true;

  get(id: string): IKnownDashboard | undefined {
    return this.all.find(one => one.id === id);
  }

  seen(id: string): ISeen | undefined {
    return this._seen.get(id);
  }

  set(...all: IKnownDashboard[]): void {
    this.all = all;
    for (const { id, firstSeen, lastLive } of all) {
      this._seen.set(id, { firstSeen, lastLive });
    }
    this.changed.emit();
  }

  private readonly _seen = new Map<string, ISeen>();
}

export const trans = nullTranslator.load('dask-diag-lab');
