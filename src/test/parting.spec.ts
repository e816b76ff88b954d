/** The end of a browser tab's cluster: what is said, and when the tab goes on with the next one. */

import { served } from './served';

interface IElement {
  isGone: boolean;
  isAtEnd: boolean;
  isClosed: boolean;
  control: object | null;
  frozenAt: Date | null;
}
interface IHeir {
  readonly id: string;
  readonly place: URL;
}
interface ISuccessor {
  own: object | null;
  attend(isThere: boolean, isSeen: boolean): void;
  leave(id: string): void;
}
interface IParting {
  update(): void;
  follow(heir: IHeir | null, isTaken?: boolean): void;
}
interface IModule {
  Parting: new (
    banner: HTMLElement,
    elements: ReadonlyMap<string, IElement>,
    successor: ISuccessor | null,
    go: (place: URL) => void
  ) => IParting;
}

document.body.dataset['base'] = './';
const { Parting } = served<IModule>('parting.js');
const NEXT = { id: 'next', place: new URL('http://localhost/next') };

describe('the end of a tab’s cluster', () => {
  let element: IElement;
  let banner: HTMLElement;
  let gone: string[];
  let attended: boolean[];
  let left: string[];

  const parting = (isRelayed = true): IParting => {
    const successor = {
      own: {},
      attend: (isThere: boolean) => void attended.push(isThere),
      leave: (id: string) => void left.push(id)
    };
    const go = (place: URL): void => void gone.push(place.href);
    return new Parting(banner, new Map([['a', element]]), isRelayed ? successor : null, go);
  };

  const press = (): void => {
    const link = banner.querySelector('a')!;
    link.addEventListener('click', event => event.preventDefault()); // jsdom goes nowhere
    link.click();
  };

  beforeEach(() => {
    element = { isGone: true, isAtEnd: false, isClosed: false, control: null, frozenAt: null };
    banner = document.createElement('p');
    [gone, attended, left] = [[], [], []];
  });

  it('leaves the page for the next cluster', () => {
    const one = parting();
    one.update();
    expect(attended).toEqual([false]);
    expect(banner.textContent).toContain('this page goes on with that one');
    one.follow(NEXT);
    expect([gone, left]).toEqual([[NEXT.place.href], [NEXT.id]]);
  });

  it('says where it goes on while the history of its own cluster is still served', () => {
    Object.assign(element, { isGone: false, isAtEnd: true, isClosed: true, control: {} });
    const one = parting();
    one.update();
    expect(attended).toEqual([false]);
    expect(banner.textContent).toContain('this page goes on with that one');
    expect(banner.textContent).not.toContain('was closed'); // the plots themselves say when
    one.follow(NEXT);
    expect([gone, left]).toEqual([[NEXT.place.href], [NEXT.id]]);
  });

  it('stays where the next cluster is another page’s, and has a link to it', () => {
    const one = parting();
    one.follow(NEXT, true);
    expect(gone).toEqual([]);
    expect(banner.textContent).toContain('with which the page of an older one goes on');
    expect(banner.querySelector('a')?.href).toBe(NEXT.place.href);
    press();
    expect(left).toEqual([]); // it is still the other page's
    one.follow(NEXT, false);
    expect([gone, left]).toEqual([[NEXT.place.href], [NEXT.id]]);
  });

  it('sets out once, however often it is told while the page is being left', () => {
    const one = parting();
    one.follow(NEXT);
    one.follow(NEXT);
    one.update();
    expect(gone).toEqual([NEXT.place.href]);
  });

  it('keeps a frozen picture until it is let go, and has a link meanwhile', () => {
    element.frozenAt = new Date();
    const one = parting();
    one.follow(NEXT);
    expect(gone).toEqual([]);
    expect(banner.hidden).toBe(false);
    expect(banner.querySelector('a')?.href).toBe(NEXT.place.href);
    expect(left).toEqual([]); // it has not gone yet
    press();
    expect(left).toEqual([NEXT.id]);
    element.frozenAt = null;
    one.update();
    expect(gone).toEqual([NEXT.place.href]);
  });

  it('forgets the next cluster when its own is there again', () => {
    element.frozenAt = new Date();
    const one = parting();
    one.follow(NEXT);
    Object.assign(element, { isGone: false, control: {} });
    one.update();
    expect([attended.at(-1), banner.textContent, banner.hidden]).toEqual([true, '', true]);
    Object.assign(element, { isGone: true, control: null, frozenAt: null });
    one.update();
    expect(gone).toEqual([]);
  });

  it('says no more than it knows where there is no Jupyter server to ask', () => {
    parting(false).update();
    expect(banner.textContent).toContain('or the way there is cut');
    expect(banner.textContent).toContain('Diagnostics.url');
  });
});
