/** What the page remembers of the dashboards it saw. */

import { Signal } from '@lumino/signaling';

import type { DashboardsFeed, FeedState } from '../api/feed';
import { bindingOf, heirOf } from '../model/binding';
import { DashboardsModel } from '../model/dashboards';
import type { INotebooks } from '../model/notebooks';
import { Tags } from '../model/tags';
import type { IDashboard } from '../wire';
import { dashboard } from './dashboards';

const MINUTE = 60_000;

/** A feed that says what a test tells it. */
class Feed {
  readonly received = new Signal<this, readonly IDashboard[]>(this);
  readonly stateChanged = new Signal<this, FeedState>(this);
  state: FeedState = 'connecting';
  problem = '';

  push(...dashboards: IDashboard[]): void {
    this.received.emit(dashboards);
    this.become('live');
  }

  become(state: FeedState): void {
    if (state !== this.state) {
      this.state = state;
      this.stateChanged.emit(state);
    }
  }
}

describe('the model of dashboards', () => {
  const a = dashboard({ id: 'a', kernel_id: 'k' });
  const b = dashboard({ id: 'b', kernel_id: 'k' });
  let feed: Feed;
  let notebooks: Signal<object, void>;
  let now: number;
  let model: DashboardsModel;

  const load = (): void => {
    feed = new Feed();
    notebooks = new Signal<object, void>({});
    const paths = { changed: notebooks, pathOf: () => 'x.ipynb' };
    model = new DashboardsModel(
      feed as unknown as DashboardsFeed, // as much of it as the model uses
      paths as unknown as INotebooks,
      new Tags(window.localStorage, 'tags'),
      () => now
    );
  };
  const shown = (): string[] => model.all.map(one => `${one.id}${one.tag}`);

  beforeEach(() => {
    now = 1000;
    window.localStorage.clear();
    load();
  });

  afterEach(() => model.dispose());

  it('knows that a dashboard lived through an hour in which nothing was said', () => {
    feed.push(a);
    now += 30 * MINUTE;
    feed.push(a, b);
    const binding = bindingOf(model.get('a')!);
    now += 60 * MINUTE;
    feed.push(b);
    expect(model.seen('a')?.lastLive).toBe(now);
    expect(heirOf(binding, model.seen('a'), model.all)).toBeUndefined();
  });

  it('knows nothing about the time in which the feed was away', () => {
    feed.push(a);
    now += 5 * MINUTE;
    feed.become('standby');
    const before = now;
    now += 60 * MINUTE;
    notebooks.emit(); // a list that is made anew is no news
    feed.push(b);
    expect(model.seen('a')?.lastLive).toBe(before);
    const binding = { ...bindingOf(model.get('b')!), dashboard: 'a' };
    expect(heirOf(binding, model.seen('a'), model.all)?.id).toBe('b');
  });

  it('does not take an ended one for live', () => {
    feed.push(a);
    now += MINUTE;
    feed.push({ ...a, state: 'stale' });
    const ended = now;
    now += MINUTE;
    feed.push();
    expect(model.seen('a')?.lastLive).toBe(ended);
    expect(model.seen('never')).toBeUndefined();
  });

  it('gives each its tag and its place again when the page is loaded anew', () => {
    const c = dashboard({ id: 'c', kernel_id: 'k' });
    feed.push(a, b);
    now += MINUTE;
    feed.push(b);
    feed.push(b, c); // takes the tag of the one that left
    expect(shown()).toEqual(['b1', 'c0']);
    model.dispose();
    load();
    feed.push(b, c);
    expect(shown()).toEqual(['b1', 'c0']);
  });

  it('gives a cluster its tag again also after very many that came and went beside it', () => {
    feed.push(a, b);
    for (let i = 0; i < 120; i += 1) {
      feed.push(b, dashboard({ id: `passing${i}` }));
    }
    expect(JSON.parse(window.localStorage.getItem('tags')!)).toHaveLength(100);
    model.dispose();
    load();
    feed.push(b, dashboard({ id: 'c' }));
    expect(shown()).toEqual(['b1', 'c0']);
  });

  it('keeps the tags that another page of this browser gave', () => {
    const other = new Tags(window.localStorage, 'tags');
    expect(other.of('elsewhere', [])).toBe(0);
    feed.push(a, b); // of another server
    expect(other.of('more', ['elsewhere'])).toBe(1);
    const tags = new Tags(window.localStorage, 'tags');
    const worn = ['a', 'b', 'elsewhere', 'more'].map(id => tags.of(id, []));
    expect(worn).toEqual([0, 1, 0, 1]);
  });

  it('gives tags also where what was kept is none', () => {
    window.localStorage.setItem('tags', '[["a", "red"], 7');
    jest.spyOn(console, 'warn').mockImplementation();
    model.dispose();
    load();
    feed.push(a, b);
    expect(shown()).toEqual(['a0', 'b1']);
    jest.restoreAllMocks();
  });
});
