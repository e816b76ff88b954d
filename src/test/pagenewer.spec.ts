/** The hint in a browser tab that its notebook has a newer cluster, while the tab's own lives. */

import type { IDashboard } from '../wire';
import { dashboard } from './dashboards';
import { NEWERS } from './newers';
import { served } from './served';

interface INewer {
  show(own: IDashboard, all: readonly IDashboard[]): void;
}
interface IModule {
  Newer: new (
    element: HTMLElement,
    plots: readonly string[],
    placeOf: (id: string) => URL,
    onStay: () => void
  ) => INewer;
}

const { Newer } = served<IModule>('newer.js');

const one = (id: string, values: Partial<IDashboard> = {}): IDashboard =>
  dashboard({ id, kernel_id: 'k', ...values });
const own = one('own');

describe('the hint of a newer cluster in a browser tab', () => {
  let element: HTMLElement;
  let newer: INewer;
  let stayed: number;
  /** What was said of its own cluster last, which may have left the list since. */
  let last: IDashboard;

  /** The tab is loaded. */
  const load = (): void => {
    element = document.createElement('div');
    const placeOf = (id: string): URL => new URL(`http://localhost/${id}/plots/task-stream`);
    newer = new Newer(element, ['task-stream'], placeOf, () => (stayed += 1));
  };
  /** Where the hint leads; null where there is none. */
  const shown = (...all: readonly IDashboard[]): string | null => {
    last = all.find(({ id }) => id === 'own') ?? last;
    newer.show(last, all);
    return element.hidden ? null : element.querySelector('a')!.pathname;
  };
  const stay = (): void => element.querySelector('button')!.click();

  beforeEach(() => {
    window.sessionStorage.clear();
    window.localStorage.clear();
    jest.spyOn(console, 'debug').mockImplementation();
    stayed = 0;
    load();
  });

  afterEach(() => jest.restoreAllMocks());

  it('leads to the same page of the newest that began after its own', () => {
    expect(shown(own)).toBeNull();
    expect(shown(own, one('b'))).toBe('/b/plots/task-stream');
    expect(shown(own, one('b'), one('c'))).toBe('/c/plots/task-stream');
    expect(element.textContent).toContain('Newer cluster in this notebook');
    expect(element.querySelector('.tag')?.textContent).toBe('3'); // as its badge will be
    expect(shown(own)).toBeNull();
  });

  it.each(NEWERS)('is about $what', ({ first, then, offered }) => {
    const lists = [first, ...then].map(list => list.map(({ id, ...values }) => one(id, values)));
    const last = lists.map(list => shown(...list)).pop();
    expect(last).toBe(offered && `/${offered}/plots/task-stream`);
  });

  it('is about none that comes after the end of its own, for which there are other words', () => {
    const ended = one('own', { state: 'stale' });
    shown(own);
    expect(shown(ended, one('b'))).toBeNull();
  });

  it('goes when both clusters have ended, or the newer one has after its own', () => {
    for (const rest of [[], [one('before')], [one('b', { state: 'stale' })]]) {
      load();
      shown(own);
      expect(shown(own, one('b'))).toBe('/b/plots/task-stream');
      expect(shown(one('b'))).toBe('/b/plots/task-stream'); // its own has ended, the newer has not
      expect(shown(...rest)).toBeNull();
    }
  });

  it('is about none that comes once its own has left the list', () => {
    shown(own);
    expect(shown(one('b'))).toBeNull();
  });

  it('is refused once for the tab, and comes again for a cluster that is newer still', () => {
    shown(own);
    shown(own, one('b'));
    stay();
    expect([element.hidden, stayed]).toEqual([true, 1]);
    expect(shown(own, one('b'))).toBeNull();
    load();
    expect(shown(own, one('b'))).toBeNull();
    expect(shown(own, one('b'), one('c'))).toBe('/c/plots/task-stream');
  });

  it('is there again after the tab was loaded again, where nobody has refused it', () => {
    shown(own);
    shown(own, one('b'));
    load();
    expect(shown(own, one('b'))).toBe('/b/plots/task-stream');
  });

  it('has what a keyboard can use: a link and a button with a name', () => {
    shown(own);
    shown(own, one('b'));
    expect(element.querySelector('a')?.textContent).toBe('Show it');
    expect(element.querySelector('button')?.getAttribute('aria-label')).toBe(
      'Stay with this cluster'
    );
  });

  it('is given also where the browser keeps nothing for the page', () => {
    jest.spyOn(Storage.prototype, 'getItem').mockImplementation(() => {
      throw new Error('denied');
    });
    jest.spyOn(Storage.prototype, 'setItem').mockImplementation(() => {
      throw new Error('denied');
    });
    shown(own);
    expect(shown(own, one('b'))).toBe('/b/plots/task-stream');
    stay();
    expect(shown(own, one('b'))).toBeNull();
  });
});
