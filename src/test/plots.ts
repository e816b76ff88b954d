/** Plots without a browser's drawing: sessions that a test opens, speaks for and closes. */

import { Signal } from '@lumino/signaling';

import type { IPlotConnector } from '../api/connector';
import type { IKeptPicture, IPlotSession, Verb } from '../api/session';
import type { IControl, ILook, IOpening, PlotArguments } from '../wire';
import { Succession } from '../model/succession';
import type { IPlotServices } from '../widgets/services';
import { queryOf } from '../wire';
import { PageLook } from '../widgets/theme';
import { DashboardList, trans } from './dashboards';

const LIVE: IControl = {
  state: 'live',
  message: '',
  closed_at: 0,
  empty: '',
  note: '',
  behind_s: 0,
  frozen: false,
  open: null
};

export class Session implements IPlotSession {
  readonly changed = new Signal<this, void>(this);
  readonly closed = new Signal<this, void>(this);
  readonly opened = new Signal<this, IOpening>(this);
  readonly sent: Verb[] = [];
  readonly showed: PlotArguments[] = [];
  title = '';
  kept: IKeptPicture | null = null;
  control: IControl = LIVE;
  isOpen = true;
  isConnected = true;
  isDisposed = false;
  isVisible = true;
  look: ILook | null = null;

  constructor(
    readonly dashboard: string,
    readonly plot: string,
    readonly given: PlotArguments = {}
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

  show(given: PlotArguments): void {
    this.showed.push(given);
  }

  picture(): Promise<Blob> {
    return Promise.resolve(new Blob());
  }

  say(control: Partial<IControl>): void {
    this.control = { ...LIVE, ...control };
    this.changed.emit();
  }

  greet(): void {
    this.isConnected = true;
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
  readonly prepared: string[] = [];
  failure: string | null = null;
  /** Sessions to come have a picture and wait for the server's greeting. */
  beginsMute = false;

  open(dashboard: string, plot: string, _: ILook, given: PlotArguments): Promise<Session> {
    if (this.failure !== null) {
      return Promise.reject(new Error(this.failure));
    }
    const session = new Session(dashboard, plot, given);
    session.isConnected = !this.beginsMute;
    this.sessions.push(session);
    return Promise.resolve(session);
  }

  prepare(dashboard: string, plot: string): void {
    this.prepared.push(`${plot} of ${dashboard}`);
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
  const dashboards = new DashboardList();
  return {
    dashboards,
    succession: new Succession(dashboards),
    connector: new Connector(),
    look: new PageLook(),
    page: page as never, // a signal whose sender nobody looks at
    trans,
    pageUrl: (dashboard, plot, given) => `/relay/${dashboard}/plots/${plot.name}${queryOf(given)}`,
    tableUrl: (dashboard, plot, format, given) =>
      `/relay/${dashboard}/plots/${plot}.${format}${queryOf(given)}`,
    keys: () => [{ keys: 'W', label: 'Zoom in' }],
    fetchTable: () =>
      Promise.resolve({
        columns: { worker: ['<b>a</b>', 'b'], cpu: [1, 2] },
        units: { cpu: '%' },
        note: ''
      }),
    fetchHelp: () => Promise.resolve('One bar for each worker.')
  };
}

/** Let all promises that are ready go on. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) {
    await Promise.resolve();
  }
}
