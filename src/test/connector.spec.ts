/** Opens plots: what is asked of a dashboard, and that a session ends what it began. */

import type { BokehLoader } from '../api/bokeh';
import type { Server } from '../api/server';
import { PlotConnector } from '../api/connector';
import type { ILook } from '../wire';
import { trans } from './dashboards';

class Model {
  readonly change = { connect: () => true, disconnect: () => true };
  setv(): void {}
}

/** What of BokehJS a session uses, with one figure as its picture. */
function bokehOf(figure: object): object {
  const control = new Model();
  const document = { roots: () => [], get_model_by_name: () => control, clear: () => undefined };
  class ClientConnection {
    readonly socket = null;
    connect(): Promise<void> {
      return Promise.resolve();
    }
  }
  class ClientSession {
    readonly document = document;
    close(): void {}
  }
  const modules = {
    ClientConnection,
    ClientSession,
    Document: { from_json: () => document },
    add_document_standalone: () => Promise.resolve([figure])
  };
  return { documents: [document], require: () => modules };
}

/** A connector with one figure as its picture; what it asks for is put into `asked`. */
function connectorOf(figure: object, asked: object[] = []): PlotConnector {
  const scripts = ['static/js/bokeh.min.js'];
  const reply = { token: 't', document: {}, bokeh: '3.0.0', scripts, later: [] };
  const server = {
    postRelayed: (_dashboard: string, _path: string, body: object) => {
      asked.push(body);
      return Promise.resolve(reply);
    },
    relayUrl: () => '',
    relaySocketUrl: () => '',
    socketQuery: '',
    trans
  } as unknown as Server; // what is touched of it
  const loader = {
    load: () => Promise.resolve(bokehOf(figure)),
    loadWhenIdle: () => undefined
  } as unknown as BokehLoader; // what is touched of it
  return new PlotConnector(server, loader);
}

it('says which sessions nobody is sure to take', async () => {
  const asked: object[] = [];
  const connector = connectorOf({}, asked);
  connector.prepare('a', 'cpu', {} as ILook, {}); // nobody looks at it
  (await connector.open('a', 'progress', {} as ILook, {})).dispose(); // nobody looks at it
  expect(asked).toMatchObject([{ ahead: true }, { ahead: false }]);
});

it('a session watches no figure any more once it is disposed', async () => {
  const watched = new Set<Element>();
  const observe = jest.spyOn(ResizeObserver.prototype, 'observe');
  observe.mockImplementation(element => void watched.add(element));
  const disconnect = jest.spyOn(ResizeObserver.prototype, 'disconnect');
  disconnect.mockImplementation(() => watched.clear());
  const [el, events_el] = [document.createElement('div'), document.createElement('div')];
  const canvas_view = { events_el };
  const figure = { el, canvas_view, model: { properties: {} }, notify_about: () => undefined };
  const session = await connectorOf(figure).open('a', 'cpu', {} as ILook, {}); // nobody looks at it
  await session.draw(document.createElement('div'));
  expect([...watched]).toEqual([el]);
  session.dispose();
  expect(watched.size).toBe(0);
});
