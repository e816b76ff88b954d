/** The notebook in front, and its kernel as it comes and changes. */

import type { INotebookTracker } from '@jupyterlab/notebook';
import { Signal } from '@lumino/signaling';

import { NotebookInFront } from '../plugins/front';

/** A notebook's session; without a kernel until a test gives it one. */
class Session {
  readonly kernelChanged = new Signal<this, void>(this);
  session: { kernel: { id: string } } | null = null;

  start(id: string): void {
    this.session = { kernel: { id } };
    this.kernelChanged.emit();
  }
}

describe('the notebook in front', () => {
  it('tells of its kernel when that starts, and not of a notebook behind', () => {
    const [one, other] = [new Session(), new Session()];
    const currentChanged = new Signal<object, void>({});
    const notebooks = { currentWidget: { sessionContext: one }, currentChanged };
    const tracker = notebooks as unknown as INotebookTracker; // what is touched of it
    const front = new NotebookInFront(tracker);
    const told: (string | undefined)[] = [];
    front.changed.connect(() => void told.push(front.kernel));
    one.start('k1');
    notebooks.currentWidget = { sessionContext: other };
    currentChanged.emit();
    one.start('k3');
    other.start('k2');
    expect(told).toEqual(['k1', undefined, 'k2']);
  });
});
