/** The badge of a browser tab: that which JupyterLab gives its cluster, also in the tab's title. */

import { ListedWord } from '../model/listedword';
import type { IStorage } from '../model/storage';
import { Tags } from '../model/tags';
import { DashboardList, known } from './dashboards';
import { served } from './served';

interface IBadge {
  show(id: string, listed: readonly string[]): void;
}
interface IModule {
  Badge: new (element: HTMLElement, onNews: () => void) => IBadge;
}

const { Badge } = served<IModule>('badge.js');
const KEY = 'dask-diag-lab:tags';

describe('the badge of a plot in a browser tab', () => {
  let element: HTMLElement;
  let badge: IBadge;

  const shown = (id: string, ...listed: string[]): (string | null)[] => {
    badge.show(id, listed);
    return element.hidden ? [null, document.title] : [element.textContent, document.title];
  };
  /** Lab gives these their badges, one after the other as it sees them. */
  const lab = (...listed: string[]): number[] => {
    const tags = new Tags(window.localStorage, KEY);
    return listed.map((id, i) => tags.of(id, listed.slice(0, i + 1)) + 1);
  };

  beforeEach(() => {
    window.localStorage.clear();
    jest.spyOn(console, 'debug').mockImplementation();
    document.title = 'Progress · a.ipynb';
    element = document.createElement('span');
    badge = new Badge(element, () => undefined);
  });

  afterEach(() => jest.restoreAllMocks());

  it('is Lab’s', () => {
    expect(lab('gone', 'a')).toEqual([1, 2]);
    expect(lab('b', 'a')).toEqual([1, 2]);
    expect(shown('a', 'a', 'b')).toEqual(['2', '2 · Progress · a.ipynb']);
    expect(element.dataset['color']).toBe('1');
    expect(shown('b', 'a', 'b')).toEqual(['1', '1 · Progress · a.ipynb']);
  });

  it('is none where its cluster is all there is', () => {
    expect(shown('a', 'a')).toEqual([null, 'Progress · a.ipynb']);
    shown('a', 'a', 'b');
    expect(shown('a', 'a')).toEqual([null, 'Progress · a.ipynb']);
  });

  it('is the lowest that is free where Lab has given none, another for each', () => {
    expect(['a', 'b', 'c'].map(id => shown(id, 'a', 'b', 'c')[0])).toEqual(['1', '2', '3']);
    lab('x', 'b'); // 2 is that of b
    expect(['a', 'b', 'c'].map(id => shown(id, 'a', 'b', 'c')[0])).toEqual(['1', '2', '3']);
    expect(['c', 'b', 'a'].map(id => shown(id, 'c', 'b', 'a')[0])).toEqual(['1', '2', '3']);
  });

  it('is given also where what is stored is no list of badges, or cannot be read', () => {
    for (const stored of ['{"a":1}', '[["a"],"b",["b",1.5]]', '[["b",-1]]', 'no JSON']) {
      window.localStorage.setItem(KEY, stored);
      expect(shown('b', 'a', 'b')[0]).toBe('2');
    }
  });

  it('stays what it is where its cluster is not among those listed', () => {
    const before = shown('b', 'a', 'b');
    expect(shown('b', 'a', 'c')).toEqual(before);
    expect(shown('b', 'a')).toEqual(before);
  });

  it('is asked for anew when a cluster has come or gone in Lab, and then only', () => {
    const a = known({ id: 'a' });
    const b = known({ id: 'b' });
    let news = 0;
    new Badge(element, () => (news += 1));
    // What a browser does: a page hears what another one writes, where it is something else.
    const storage: IStorage = {
      getItem: () => null,
      setItem: key => void window.dispatchEvent(new StorageEvent('storage', { key }))
    };
    const word = new ListedWord(storage, 'dask-diag-lab:listed');
    const lists = [[a], [a, b], [{ ...a, state: 'stale' as const }, b], [b], [b], []];
    const dashboards = new DashboardList();
    dashboards.changed.connect(word.tell, word);
    const heard = lists.map(all => {
      dashboards.set(...all);
      return news;
    });
    expect(heard).toEqual([1, 2, 2, 3, 3, 4]);
    window.dispatchEvent(new StorageEvent('storage', { key: 'something else' }));
    dashboards.isKnown = false;
    dashboards.set(a); // before Lab has a list
    expect(news).toBe(4);
  });
});
