/** Plots without a browser's drawing: sessions that a test opens, speaks for and closes. */

import { Signal } from '@lumino/signaling';

import type { IPlotConnector, IPlotSession, Verb } from '../api/session';
import type { IControl, ILook } from '../wire';
import type { IPlotServices } from '../widgets/services';
import { PageLook } from '../widgets/theme';
import { DashboardList, trans } from './dashboards';

const LIVE: IControl = {
  state: 'live',
  message: '',
  empty: '',
  note: '',
  behind_s: 0,
  frozen: false
};

export class Session implements IPlotSession {
  readonly changed = new Signal<this, void>(this);
  readonly closed = new Signal<this, void>(this);
  readonly sent: Verb[] = [];
  control: IControl = LIVE;
  isOpen = true;
  isDisposed = false;
  isVisible = true;
  look: ILook | null = null;

  constructor(
    readonly dashboard: string,
    readonly plot: string
  ) {}

  async draw(element: HTMLElement): Promise<void> {
    element.textContent = `picture of ${this.dashboard}`;
  }

  setVisible(isVisible: boolean): void {
    this.isVisible = isVisible;
  }

  setLook(look: ILook): void {
    this.look = look;
  }

  send(verb: Verb): void {
    this.sent.push(verb);
  }

  picture(): Promise<Blob> {
    return Promise.resolve(new Blob());
  }

  say(control: Partial<IControl>): void {
    this.control = { ...LIVE, ...control };
    this.changed.emit();
  }

  cut(): void {
    this.isOpen = false;
    this.closed.emit();
  }

  dispose(): void {
    this.isDisposed = true;
  }
}

export class Connector implements IPlotConnector {
  readonly sessions: Session[] = [];
  failure: string | null = null;

  open(dashboard: string, plot: string): Promise<Session> {
    if (this.failure !== null) {
      return Promise.reject(new Error(this.failure));
    }
    const session = new Session(dashboard, plot);
    this.sessions.push(session);
    return Promise.resolve(session);
  }

  get last(): Session {
    return this.sessions[this.sessions.length - 1]!;
  }
}

export interface ITestServices extends IPlotServices {
  readonly dashboards: DashboardList;
  readonly connector: Connector;
}

export function services(): ITestServices {
  const page = { isVisible: true, changed: new Signal<object, void>({}) };
  return {
    dashboards: new DashboardList(),
    connector: new Connector(),
    look: new PageLook(),
    page: page as never, // a signal whose sender nobody looks at
    trans,
    pageUrl: (dashboard, plot) => `/relay/${dashboard}/plots/${plot.name}`,
    tableUrl: (dashboard, plot, format) => `/relay/${dashboard}/plots/${plot}.${format}`,
    fetchTable: () =>
      Promise.resolve({ columns: { worker: ['<b>a</b>', 'b'], cpu: [1, 2] }, units: { cpu: '%' } }),
    fetchHelp: () => Promise.resolve('One bar for each worker.')
  };
}

/** Let all promises that are ready go on. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) {
    await Promise.resolve();
  }
}
