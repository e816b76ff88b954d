/** Which new cluster takes over which of several browser tabs, each of another cluster. */

import { Channels } from './pagechannels';
import { served } from './served';
import { SUCCESSIONS } from './successions';

interface IPage {
  own: string;
  from: string;
  line: string;
  kernel: string;
  order: string[];
}
interface IRivals {
  readonly me: IPage;
  know(kernel: string, ids: readonly string[]): void;
  ask(): void;
  heir(candidates: readonly string[], live: readonly string[]): string | undefined;
  leave(heir: string): void;
}
interface IModule {
  heirOf(
    me: IPage,
    others: readonly IPage[],
    candidates: readonly string[],
    live: readonly string[]
  ): string | undefined;
  Rivals: new (own: string, channel?: EventTarget) => IRivals;
}

const { heirOf, Rivals } = served<IModule>('rivals.js');

describe('of two clusters of a notebook in browser tabs', () => {
  const page = (own: string, values: Partial<IPage> = {}): IPage => {
    return { own, from: '', line: own, kernel: 'k', order: ['second', 'first'], ...values };
  };
  // The order of names is not that of the beginnings.
  const first = page('second');
  const second = page('first');
  const both = ['next', 'after'];

  /** One page after the other looks at a list, the last one first, and goes where it may. */
  const gone = (pages: readonly IPage[], list: readonly string[]): readonly IPage[] =>
    pages.reduceRight<readonly IPage[]>((now, me) => {
      const candidates = list.filter(id => !me.order.includes(id));
      const others = now.filter(other => other !== me);
      const heir = list.includes(me.own) ? undefined : heirOf(me, others, candidates, list);
      const then = heir === undefined ? me : { ...me, own: heir, from: me.own };
      return now.map(one => (one === me ? then : one));
    }, pages);

  it.each(SUCCESSIONS)('$what', ({ old, lists, shown }) => {
    const pages = lists.reduce(
      gone,
      old.map(own => page(own, { order: [...old] }))
    );
    expect(pages.map(({ own }) => own)).toEqual(shown);
  });

  it('the second goes on with the next one where no page is of the first, or that lives', () => {
    expect(heirOf(second, [], ['next'], ['next'])).toBe('next');
    expect(heirOf(second, [first], ['next'], ['next', first.own])).toBe('next');
    expect(heirOf(second, [page('other', { kernel: 'k2' })], ['next'], ['next'])).toBe('next');
  });

  it('what the first has gone to is not the second’s, all other tabs of the first follow', () => {
    const gone = page('next', { from: first.own, line: first.own });
    expect(heirOf(second, [gone], ['next'], ['next'])).toBeUndefined();
    expect(heirOf(second, [gone, first], both, both)).toBe('after');
    expect(heirOf(first, [gone, second], both, both)).toBe('next');
    expect(heirOf(first, [first, second], both, both)).toBe('next');
  });

  it('the first one’s goes on first when the next one ends too', () => {
    const gone = page('next', { from: first.own, line: first.own });
    expect(heirOf(gone, [second], ['after'], ['after'])).toBe('after');
    expect(heirOf(second, [gone], ['after'], ['after'])).toBeUndefined();
  });

  it('two that know nothing of each other do not both go to the same', () => {
    const [a, b] = [page('a', { order: ['a'] }), page('b', { order: ['b'] })];
    const heirs = [heirOf(a, [b], both, both), heirOf(b, [a], both, both)];
    expect(new Set(heirs)).toEqual(new Set(both));
  });

  it('a page keeps its line, however many clusters it saw', () => {
    const rivals = new Rivals('own', new Channels().open());
    const many = Array.from({ length: 30 }, (_, i) => `c${i}`);
    rivals.know('k', ['own', ...many]);
    expect([rivals.me.order[0], rivals.me.order.at(-1)]).toEqual(['own', 'c29']);
    expect(rivals.me.order).toHaveLength(21);
  });

  it('a page goes on alone where the browser has no channel for it', () => {
    const debug = jest.spyOn(console, 'debug').mockImplementation();
    const BroadcastChannel = jest.fn(() => {
      throw new DOMException('no storage for this page', 'SecurityError');
    });
    Object.assign(window, { BroadcastChannel });
    const rivals = new Rivals('second');
    rivals.know('k', ['second']);
    rivals.ask();
    expect(rivals.heir(['next'], ['next'])).toBe('next');
    expect(debug.mock.calls.flat().join()).toContain('no storage for this page');
    debug.mockRestore();
  });

  it('pages tell each other, also where they came from', () => {
    window.sessionStorage.clear();
    const channels = new Channels();
    const rivals = new Rivals('second', channels.open());
    rivals.know('k', ['second', 'first']);
    rivals.leave('next');
    const followed = new Rivals('next', channels.open());
    expect(followed.me).toMatchObject({ from: 'second', line: 'second' });
    followed.know('k', ['next']);
    const opened = new Rivals('first', channels.open());
    expect(opened.me).toMatchObject({ from: '', line: 'first' });
    opened.know('k', ['second', 'first']);
    opened.ask();
    expect(opened.heir(['next'], ['next'])).toBeUndefined();
    expect(opened.heir(['next', 'after'], ['next', 'after'])).toBe('after');
  });
});
