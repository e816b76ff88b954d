/** Which of several new clusters of a notebook takes over which panes. */

import { bindingOf, savedBinding, type IBinding } from '../model/binding';
import type { IKnownDashboard } from '../model/dashboards';
import { Succession } from '../model/succession';
import { PlotView } from '../widgets/plotview';
import { known } from './dashboards';
import { services, type ITestServices } from './plots';
import { SUCCESSIONS } from './successions';

describe('of two clusters of a notebook', () => {
  let given: ITestServices;
  let views: PlotView[];

  const cluster = (id: string, at: number, more: Partial<IKnownDashboard> = {}): IKnownDashboard =>
    known({
      id,
      kernel_id: 'k',
      scheduler: { id, address: '' },
      firstSeen: at,
      lastLive: at + 500,
      ...more
    });
  const first = cluster('first', 1000);
  const second = cluster('second', 1100);
  const next = cluster('next', 2000);
  const afterNext = cluster('after-next', 2100);

  const view = (binding: IBinding): PlotView => {
    const made = new PlotView({ plot: 'progress', binding, services: given });
    views.push(made);
    return made;
  };
  const shown = (): string[] => views.map(one => one.binding.dashboard);
  const words = (one: PlotView | undefined): string => one?.presentation.words ?? '';

  beforeEach(() => {
    given = services();
    views = [];
    given.dashboards.set(first, second);
    // Two of one, and those of the second one first: the order of panes says nothing.
    for (const one of [second, first, second, first]) {
      view(bindingOf(one));
    }
  });

  afterEach(() => {
    views.forEach(one => one.dispose());
    given.look.dispose();
  });

  it('the first has its panes taken over by the next one, the second by the one after it', () => {
    expect(shown()).toEqual(['second', 'first', 'second', 'first']);
    given.dashboards.set();
    given.dashboards.set(next);
    expect(shown()).toEqual(['second', 'next', 'second', 'next']);
    expect(words(views[0])).toContain('this plot returns by itself');
    given.dashboards.set(next, afterNext);
    expect(shown()).toEqual(['after-next', 'next', 'after-next', 'next']);
    expect(words(views[0])).toBe(words(views[1]));
  });

  it('each has its own when both next ones come at once, also where the old are listed', () => {
    const ended = [first, second].map(one => ({ ...one, state: 'stale' as const }));
    given.dashboards.set(...ended, next, afterNext);
    expect(shown()).toEqual(['after-next', 'next', 'after-next', 'next']);
  });

  it('the second has its panes taken over where the first has none', () => {
    views.filter(one => one.binding.dashboard === 'first').forEach(one => one.dispose());
    given.dashboards.set();
    given.dashboards.set(next);
    expect(shown()).toEqual(['next', 'first', 'next', 'first']);
  });

  it('the first one’s panes go on first when the next one ends too', () => {
    given.dashboards.set();
    given.dashboards.set(next);
    given.dashboards.set();
    given.dashboards.set(afterNext);
    expect(shown()).toEqual(['second', 'after-next', 'second', 'after-next']);
  });

  it('the second one’s panes still wait after a reload', () => {
    given.dashboards.set();
    given.dashboards.set(next);
    const saved = views.map(one => savedBinding(JSON.parse(JSON.stringify(one.binding)))!);
    views.splice(0).forEach(one => one.dispose());
    given = services();
    saved.forEach(view);
    given.dashboards.set(next);
    expect(shown()).toEqual(['second', 'next', 'second', 'next']);
    given.dashboards.set(next, afterNext);
    expect(shown()).toEqual(['after-next', 'next', 'after-next', 'next']);
  });

  it.each(SUCCESSIONS)('$what', ({ old, lists, shown: expected }) => {
    views.splice(0).forEach(one => one.dispose());
    given = services();
    const began = [...old, ...lists.flat()];
    const made = (id: string): IKnownDashboard => cluster(id, 1000 + 100 * began.indexOf(id));
    given.dashboards.set(...old.map(made));
    old.forEach(id => view(bindingOf(made(id))));
    lists.forEach(list => given.dashboards.set(...list.map(made)));
    expect(shown()).toEqual(expected);
  });

  it('one that is there keeps its panes', () => {
    const succession = new Succession(given.dashboards);
    given.dashboards.set(first, next);
    expect(succession.dashboardFor(bindingOf(first))).toBe(first);
  });
});
