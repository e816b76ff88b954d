/** What panes and lists are given in tests. */

import { CommandRegistry } from '@lumino/commands';
import { Signal } from '@lumino/signaling';

import { BokehLoader } from '../plot/bokeh';
import { RunsModel } from '../dashboards/runs';
import type { IPlotServer } from '../transport/remote';
import { Server } from '../transport/server';
import { PlotStream } from '../transport/stream';
import type { IPlotServices } from '../widgets/services';
import { DashboardList, trans } from './dashboards';
import { THEME } from './plots';

/** Services with a list that the test sets, and a server that never answers. */
export function services(
  dashboards = new DashboardList(),
  server: Partial<Server> = {}
): IPlotServices & { readonly dashboards: DashboardList } {
  const relayUrl: Server['relayUrl'] = (_, path) => `http://jupyter/relay/${path}`;
  const remote: IPlotServer = {
    get: () => new Promise(() => undefined),
    url: path => relayUrl('', path),
    stream: new PlotStream(() => ({ send: () => undefined, close: () => undefined }), trans)
  };
  const relayed: Server['relayed'] = () => remote;
  const commands = new CommandRegistry();
  return {
    commands,
    dashboards,
    runs: new RunsModel(dashboards, { relayed: server.relayed ?? relayed }),
    server: Object.assign(Object.create(Server.prototype), {
      relayed,
      relayUrl,
      ...server
    }) as Server,
    loader: new BokehLoader(trans),
    trans,
    theme: THEME,
    themeChanged: new Signal<object, void>({})
  };
}

/** As much of Lab as commands need; its shell keeps what was added, and where. */
export class FakeApp {
  readonly commands = new CommandRegistry();
  readonly restored = Promise.resolve();
  readonly serviceManager = { ready: Promise.resolve(), serverSettings: { baseUrl: '/' } };
  readonly docRegistry = {
    addFileType: () => undefined,
    addModelFactory: () => undefined,
    addWidgetFactory: () => undefined
  };
  readonly added: [id: string, options: object][] = [];
  readonly activated: string[] = [];
  readonly shell = {
    node: document.createElement('div'),
    currentWidget: null,
    add: (widget: { id: string }, _: string, options: object) =>
      void this.added.push([widget.id, options]),
    activateById: (id: string) => void this.activated.push(id),
    widgets: () => []
  };
  contextMenuHitTest = (): HTMLElement | undefined => undefined;
}
