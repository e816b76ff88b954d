/** A pane on screen, of a cluster that a test speaks for; time passes as the test says. */

import { Widget } from '@lumino/widgets';

import { bindingOf } from '../model/binding';
import { Pane } from '../widgets/pane';
import { known } from './dashboards';
import { services, settled, type ITestServices } from './plots';

export const NOW = new Date('2026-11-20T14:02:00').getTime();

export class PaneStand {
  /** Made in a `describe`: each of its tests begins with services of its own, and ends clean. */
  constructor() {
    beforeEach(() => {
      jest.useFakeTimers({ now: NOW });
      this.given = services();
    });
    afterEach(() => {
      this.pane.dispose();
      this.given.look.dispose();
      jest.useRealTimers();
    });
  }

  readonly own = known({ id: 'own', kernel_id: 'k', firstSeen: NOW, lastLive: NOW });
  given!: ITestServices; // made before each test
  pane!: Pane; // made by each test

  async open(plot = 'task-stream'): Promise<void> {
    this.given.dashboards.set(this.own);
    this.pane = new Pane({ plot, binding: bindingOf(this.own), services: this.given }, 'key');
    Widget.attach(this.pane, document.body);
    await settled();
  }

  async reconnected(): Promise<void> {
    const { length } = this.given.connector.sessions;
    jest.advanceTimersByTime(5000);
    await settled();
    expect(this.given.connector.sessions).toHaveLength(length + 1);
  }
}
