/** The line above a picture in a browser tab: what the plot is called, and the picture's own title. */

import { served } from './served';

interface IModule {
  lift(roots: readonly object[], head: HTMLElement): void;
}

const { lift } = served<IModule>('picture_title.js');

/** A figure's title, as far as the page touches it. */
class Title {
  readonly told: (() => void)[] = [];
  readonly change = { connect: (slot: () => void) => void this.told.push(slot) };
  readonly set: object[] = [];

  constructor(public text: string) {}

  setv(...given: object[]): void {
    this.set.push(given);
  }

  say(text: string): void {
    this.text = text;
    this.told.forEach(slot => slot());
  }
}

describe('the line above a picture', () => {
  let head: HTMLElement;

  const begin = (inside: string): void => {
    head = document.createElement('div');
    head.innerHTML = `${inside}<span class="title"></span>`;
  };
  const said = (): string[] =>
    [...head.querySelectorAll<HTMLElement>('*')]
      .filter(one => !one.hidden)
      .map(one => one.textContent ?? '');

  it('has the title, which is off the picture and cut by nothing but the line', () => {
    begin('<h2 class="name">Cluster Memory</h2>');
    const title = new Title('Process memory: 1 MiB');
    lift([{ children: [{ title }] }], head);
    expect(said()).toEqual(['Cluster Memory', 'Process memory: 1 MiB']);
    expect(title.set).toEqual([[{ visible: false }, { sync: false }]]);
    title.say('Process memory: 2 MiB');
    expect(said()).toEqual(['Cluster Memory', 'Process memory: 2 MiB']);
    expect(head.querySelector<HTMLElement>('.title')?.title).toBe('Process memory: 2 MiB');
  });

  it('says the name once', () => {
    begin('<h2 class="name">Task Stream</h2>');
    const title = new Title('Task stream · 4 threads');
    lift([{ title }], head);
    expect(said()).toEqual(['Task stream · 4 threads']);
    title.say('');
    expect(said()).toEqual(['Task Stream', '']);
  });

  it('is none where there is neither, and leaves the titles of several figures where they are', () => {
    begin('');
    const titles = [new Title('one'), new Title('other')];
    lift([{ children: titles.map(title => ({ title })) }], head);
    expect([head.hidden, titles.flatMap(({ set }) => set)]).toEqual([true, []]);
    titles.pop();
    lift([{ children: titles.map(title => ({ title })) }], head);
    expect([head.hidden, said()]).toEqual([false, ['one']]);
  });
});
