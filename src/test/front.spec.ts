/** The notebook in front, and its kernel as it comes and changes. */

import type { INotebookTracker } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';
import { DockPanel, Widget } from '@lumino/widgets';

import { NotebookInFront } from '../plugins/front';

/** A notebook's session; without a kernel until a test gives it one. */
class Session {
  readonly kernelChanged = new Signal<this, void>(this);
  session: { kernel: { id: string } } | null = null;
  isReady = false;
  /** It is settled which kernel it has, or that it has none. */
  settle = (): void => undefined;
  readonly ready = new Promise<void>(resolve => {
    this.settle = () => {
      this.isReady = true;
      resolve();
    };
  });

  start(id: string): void {
    this.session = { kernel: { id } };
    this.settle();
    this.kernelChanged.emit();
  }
}

class Notebook extends Widget {
  readonly sessionContext = new Session();
}

describe('the notebook in front', () => {
  let all: Notebook[];
  let dock: DockPanel;
  let tracker: { currentWidget: Notebook | null; currentChanged: Signal<object, void> };
  let tabs: Signal<object, void>;
  let restore: () => void;
  let front: NotebookInFront;
  let told: (string | undefined)[];

  const notebook = (options: DockPanel.IAddOptions = {}): Notebook => {
    const one = new Notebook();
    all.push(one);
    dock.addWidget(one, options);
    return one;
  };
  /** Two notebooks with a kernel of their own; the second one was used last. */
  const two = (mode: DockPanel.InsertMode): readonly [Notebook, Notebook] => {
    const one = notebook();
    const other = notebook({ mode, ref: one });
    one.sessionContext.start('k1');
    other.sessionContext.start('k2');
    use(other);
    return [one, other];
  };
  const use = (one: Notebook): void => {
    dock.selectWidget(one);
    tracker.currentWidget = one;
    tracker.currentChanged.emit();
  };

  beforeEach(() => {
    jest.useFakeTimers();
    all = [];
    dock = new DockPanel();
    Widget.attach(dock, document.body);
    told = [];
    tabs = new Signal<object, void>({});
    tracker = { currentWidget: null, currentChanged: new Signal<object, void>({}) };
    const find = (fits: (one: Notebook) => boolean): Notebook | undefined => all.find(fits);
    const notebooks = { ...tracker, find };
    tracker = notebooks;
    const restored = new Promise<void>(resolve => (restore = resolve));
    const app = { restored, shell: { currentChanged: tabs } };
    front = new NotebookInFront(
      app as never, // what is touched of it
      notebooks as unknown as INotebookTracker // what is touched of it
    );
    front.changed.connect(() => void told.push(front.kernel));
  });

  afterEach(() => {
    dock.dispose();
    jest.useRealTimers();
  });

  it('tells of its kernel when that starts, and not of a notebook behind', () => {
    const [one, other] = [notebook(), notebook()];
    use(one);
    one.sessionContext.start('k1');
    use(other);
    one.sessionContext.start('k3');
    other.sessionContext.start('k2');
    expect(told).toEqual([undefined, 'k1', undefined, 'k2']);
  });

  it('is the one that lies over the one used last, as after a reload', () => {
    const [one, other] = two('tab-after');
    dock.selectWidget(one);
    tabs.emit();
    expect(front.kernel).toBe('k1');
    dock.hide();
    expect(front.kernel).toBe('k2'); // none is in sight: the one used last
    dock.show();
    dock.selectWidget(other);
    tabs.emit();
    expect(told.slice(-2)).toEqual(['k1', 'k2']);
  });

  it('is the one used last, where something else lies over that and another one is in sight', () => {
    const [one, other] = two('split-right');
    const pane = new Widget();
    dock.addWidget(pane, { mode: 'tab-after', ref: other });
    dock.selectWidget(pane);
    tabs.emit();
    expect([one.isVisible, other.isVisible, front.kernel]).toEqual([true, false, 'k2']);
  });

  it('is known once Lab is restored and the notebook has a kernel, or gets none', async () => {
    use(notebook());
    const { sessionContext } = all[0]!;
    expect(front.isKnown).toBe(false);
    restore();
    await Promise.resolve();
    expect(front.isKnown).toBe(false);
    const before = told.length;
    sessionContext.settle();
    await Promise.resolve();
    await Promise.resolve();
    expect([front.isKnown, told.length]).toEqual([true, before + 1]);
  });

  it('is known where Lab has no notebook', async () => {
    restore();
    await Promise.resolve();
    expect(front.isKnown).toBe(true);
  });

  it('is not waited for longer than 20 s after the notebooks are there', async () => {
    use(notebook());
    restore();
    await Promise.resolve();
    jest.advanceTimersByTime(19_999);
    expect(front.isKnown).toBe(false);
    const before = told.length;
    jest.advanceTimersByTime(1);
    expect([front.isKnown, told.length]).toEqual([true, before + 1]);
  });
});
