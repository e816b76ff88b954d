/** The sidebar of several clusters: which is first, which is open, and when that may change. */

import { Widget } from '@lumino/widgets';

import { Sidebar } from '../widgets/sidebar';
import { DashboardList, known } from './dashboards';
import { Front, sidebarHost } from './sidebarhost';

describe('the sidebar of two clusters', () => {
  let dashboards: DashboardList;
  let front: Front;
  let sidebar: Sidebar;
  const first = known({ id: 'a', kernel_id: 'ka', shownName: 'first.ipynb' });
  const second = known({ id: 'b', kernel_id: 'kb', shownName: 'second.ipynb', tag: 1 });

  const sections = (): HTMLElement[] => [...sidebar.node.querySelectorAll<HTMLElement>('section')];
  const order = (): (string | undefined)[] => sections().map(one => one.dataset['dashboard']);
  const open = (): (string | undefined)[] =>
    sections()
      .filter(one => one.querySelector('.jp-DaskDiag-fold[aria-expanded="true"]') !== null)
      .map(one => one.dataset['dashboard']);
  const fold = (at: number): HTMLElement =>
    sections()[at]!.querySelector<HTMLElement>('.jp-DaskDiag-fold')!;
  const type = (text: string): HTMLInputElement => {
    const search = sidebar.node.querySelector('input')!;
    search.value = text;
    search.dispatchEvent(new Event('input'));
    return search;
  };
  /** What each section says of what a search finds in it. */
  const hits = (): (string | null)[] =>
    [...sidebar.node.querySelectorAll<HTMLElement>('.jp-DaskDiag-hits')].map(one =>
      one.closest('[hidden]') === null ? one.textContent : null
    );
  /** Make the sidebar anew, while it is still to be seen what notebook is in front. */
  const reload = (): void => {
    sidebar.dispose();
    Object.assign(front, { kernel: undefined, isKnown: false });
    sidebar = new Sidebar(sidebarHost({ dashboards, front }));
    Widget.attach(sidebar, document.body);
  };
  /** Move the focus as browsers do: until it is there, the page says that it is nowhere. */
  const goTo = async (next: HTMLElement): Promise<void> => {
    const last = document.activeElement;
    const nowhere = jest.spyOn(document, 'activeElement', 'get').mockReturnValue(document.body);
    for (const kind of ['blur', 'focusout']) {
      const bubbles = kind === 'focusout';
      last?.dispatchEvent(new FocusEvent(kind, { bubbles, relatedTarget: next }));
      await Promise.resolve();
    }
    nowhere.mockRestore();
    next.focus();
    await Promise.resolve();
  };
  const point = (type: string): void => void sidebar.node.dispatchEvent(new PointerEvent(type));

  beforeEach(() => {
    dashboards = new DashboardList();
    front = new Front();
    sidebar = new Sidebar(sidebarHost({ dashboards, front }));
    Widget.attach(sidebar, document.body);
    front.kernel = 'kb';
    dashboards.set(first, second);
  });

  afterEach(() => sidebar.dispose());

  it('has that of the notebook in front first and open, the other one folded', () => {
    expect([order(), open()]).toEqual([['b', 'a'], ['b']]);
    front.set('ka');
    expect([order(), open()]).toEqual([['a', 'b'], ['a']]);
    front.set('no cluster here');
    expect([order(), open()]).toEqual([['a', 'b'], ['a']]);
  });

  it('has the newest of one notebook first, whether it is in front or not', () => {
    const newer = known({ id: 'b2', kernel_id: 'kb', tag: 2 });
    const byHand = known({ id: 'h', kernel_id: null, tag: 3 });
    dashboards.set(first, second, byHand, newer, known({ id: 'h2', kernel_id: null, tag: 4 }));
    expect([order(), open()]).toEqual([
      ['b2', 'b', 'a', 'h', 'h2'],
      ['b2', 'b']
    ]);
    front.set('ka');
    expect(order()).toEqual(['a', 'b2', 'h', 'b', 'h2']);
  });

  it('has a newer one of the notebook in front above the older only when no hand is there', async () => {
    const newer = known({ id: 'b2', kernel_id: 'kb', tag: 2 });
    const row = sections()[0]?.querySelector<HTMLElement>('.jp-DaskDiag-plotButton');
    row?.focus();
    dashboards.set(first, second, newer);
    expect(order()).toEqual(['b', 'a', 'b2']);
    expect(document.activeElement).toBe(row);
    row?.blur();
    await Promise.resolve();
    expect(order()).toEqual(['b2', 'b', 'a']);
  });

  it('does not move under the pointer, and catches up when it is gone', () => {
    point('pointerenter');
    front.set('ka');
    dashboards.set(first, second, known({ id: 'c', kernel_id: 'kc', tag: 2 }));
    expect([order(), open()]).toEqual([['b', 'a', 'c'], ['b']]);
    point('pointerleave');
    expect([order(), open()]).toEqual([['a', 'b', 'c'], ['a']]);
  });

  it('opens a new cluster of the notebook in front below the pointer, and keeps it open', () => {
    point('pointerenter');
    front.set('kc');
    const third = known({ id: 'c', kernel_id: 'kc', tag: 2 });
    dashboards.set(first, second, third);
    expect([order(), open()]).toEqual([
      ['b', 'a', 'c'],
      ['b', 'c']
    ]);
    dashboards.set(first, second, third);
    expect(open()).toEqual(['b', 'c']);
    point('pointerleave');
    expect([order(), open()]).toEqual([['c', 'a', 'b'], ['c']]);
  });

  it('catches up also when the pointer was dragged away, which is told to nobody', () => {
    point('pointerenter');
    front.set('ka');
    document.body.dispatchEvent(new PointerEvent('pointermove', { bubbles: true }));
    expect(order()).toEqual(['a', 'b']);
  });

  it('does not move while a row has the focus', async () => {
    sections()[0]?.querySelector<HTMLElement>('.jp-DaskDiag-plotButton')?.focus();
    front.set('ka');
    expect(order()).toEqual(['b', 'a']);
    (document.activeElement as HTMLElement).blur();
    await Promise.resolve();
    expect(order()).toEqual(['a', 'b']);
  });

  it('stays as the user opened and folded it', () => {
    fold(1).click();
    expect(open()).toEqual(['b', 'a']);
    fold(0).click();
    front.set('ka');
    front.set('kb');
    expect([order(), open()]).toEqual([['b', 'a'], ['a']]);
  });

  it('lists what a search finds in that of the notebook in front, and how much it is elsewhere', () => {
    type('stream progress');
    expect(hits()).toEqual([null, null]); // sections without any are hidden
    type('progress');
    expect([order(), open(), hits()]).toEqual([['b', 'a'], ['b'], [null, '1 found']]);
    type('e');
    expect(hits()[1]).toMatch(/^[2-9] found$/);
    type('');
    expect([open(), hits()]).toEqual([['b'], [null, null]]);
  });

  it('unfolds another one for a search by hand, or where only that has what is searched', () => {
    type('progress');
    fold(1).click();
    expect([open(), hits()]).toEqual([
      ['b', 'a'],
      [null, null]
    ]);
    fold(0).click();
    expect(open()).toEqual(['a']);
    type('');
    expect(open()).toEqual(['b']); // as it was before
    const mine = { name: 'mine', title: 'Mine', group: 'Yours', description: '' };
    dashboards.set({ ...first, plots: [...first.plots, mine] }, second);
    type('mine');
    expect(open()).toEqual(['a']);
  });

  it('has that of the notebook in front first also while a search stands, but not under a hand', async () => {
    const search = type('progress');
    search.focus();
    front.set('ka');
    expect([order(), open()]).toEqual([['b', 'a'], ['b']]);
    search.blur();
    await Promise.resolve();
    expect([order(), open()]).toEqual([['a', 'b'], ['a']]);
  });

  it('does not move while the focus goes from the search to a row, to another one and back', async () => {
    const search = type('p');
    search.focus();
    front.set('ka');
    const rows = [...sections()[0]!.querySelectorAll<HTMLElement>('.jp-DaskDiag-plotButton')];
    for (const next of [rows[0]!, rows[1]!, search]) {
      await goTo(next);
      expect([order(), document.activeElement]).toEqual([['b', 'a'], next]);
    }
    type('');
    expect(order()).toEqual(['a', 'b']);
  });

  it('catches up when the focus goes from a row to a search for nothing', async () => {
    sections()[0]?.querySelector<HTMLElement>('.jp-DaskDiag-plotButton')?.focus();
    front.set('ka');
    await goTo(sidebar.node.querySelector('input')!);
    expect(order()).toEqual(['a', 'b']);
  });

  it('unfolds none after a reload before it is known what notebook is in front', () => {
    reload();
    expect([order(), open()]).toEqual([['a', 'b'], []]);
    front.set('kb');
    expect([order(), open()]).toEqual([['b', 'a'], ['b']]);
    front.isKnown = true;
    front.set('no cluster here');
    expect(open()).toEqual(['b']);
  });

  it('settles after a reload which one is open only when no hand is there', () => {
    reload();
    point('pointerenter');
    Object.assign(front, { kernel: 'kb', isKnown: true });
    dashboards.set(known({ id: 'c', kernel_id: 'kc', tag: 2 }), first, second);
    expect([order(), open()]).toEqual([['a', 'b', 'c'], []]);
    point('pointerleave');
    expect([order(), open()]).toEqual([['b', 'c', 'a'], ['b']]);
  });

  it('unfolds the only one there is at once', () => {
    dashboards.set(first);
    reload();
    expect(open()).toEqual(['a']);
    dashboards.set(first, second);
    front.set('kb');
    expect([order(), open()]).toEqual([['b', 'a'], ['b']]);
  });

  it('unfolds the first where the notebook in front has no cluster', () => {
    reload();
    front.isKnown = true;
    front.set('no cluster here');
    expect(open()).toEqual(['a']);
  });

  it('has a closed one below and folded, unless it is of the notebook in front', () => {
    dashboards.set({ ...first, state: 'stale', closed_at: 5 }, second);
    reload();
    front.isKnown = true;
    front.set(undefined);
    expect([order(), open()]).toEqual([['b', 'a'], ['b']]);
    front.set('ka');
    expect([order(), open()]).toEqual([['a', 'b'], ['a']]);
    front.set('no cluster here');
    expect([order(), open()]).toEqual([['b', 'a'], ['b']]);
  });

  it('unfolds the first where all are closed', () => {
    const closed = { state: 'stale', closed_at: 5 } as const;
    dashboards.set({ ...first, ...closed }, { ...second, ...closed });
    reload();
    front.isKnown = true;
    front.set(undefined);
    expect([order(), open()]).toEqual([['a', 'b'], ['a']]);
  });

  it('stays scrolled under the pointer, and else shows what is first', () => {
    const list = sidebar.node.querySelector('.jp-DaskDiag-list')!;
    point('pointerenter');
    list.scrollTop = 40;
    dashboards.set(first);
    expect(list.scrollTop).toBe(40);
    point('pointerleave');
    dashboards.set(first, second);
    expect([order(), list.scrollTop]).toEqual([['b', 'a'], 0]);
  });
});
