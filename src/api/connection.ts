/** Bokeh's connection to a document that the page has already: drawn while the socket opens. */

import type { ISessionReply } from '../wire';
import type { IBokeh, IBokehConnection, IBokehSession } from './bokeh';

/** Our reason for closing a socket whose messages make no sense (3000 to 4999 is for pages). */
const BAD_PROTOCOL = 4002;

/** A server that has not greeted by then is given up (ms). */
const GREETING_MS = 60_000;

/** A session whose document can be drawn before anybody answers. */
export interface IConnecting {
  readonly connection: IBokehConnection;
  readonly session: IBokehSession;
  /** The server has greeted; rejected where the socket ended before. */
  readonly connected: Promise<unknown>;
}

/**
 * Connect to the session of a reply; what the page does to the document is sent once it can be.
 *
 * Pages in a browser tab do the same in `server/static/session.js`.
 */
export function connect(
  bokeh: IBokeh,
  url: string,
  reply: ISessionReply,
  query: string
): IConnecting {
  const { ClientConnection } = bokeh.require('client/connection');
  const { ClientSession } = bokeh.require('client/session');
  const { Document } = bokeh.require('document/document');
  const connection = new ClientConnection(url, reply.token, query);
  const events: unknown[] = [];
  const document = Document.from_json(reply.document, events);
  const session = new ClientSession(connection, document);
  connection.session = session;
  // Bokeh closes with a code that browsers refuse, and would go on with half a message.
  connection._close_bad_protocol = () => connection.socket?.close(BAD_PROTOCOL);
  const connected = connection.connect();
  const greeted = holdBack(connection.socket);
  // Bokeh asks for the document here, after the server's greeting.
  connection._repull_session_doc = resolve => {
    greeted();
    resolve(session);
  };
  for (const event of events) {
    document._trigger_on_change(event); // what the models changed of themselves when they were made
  }
  const late = setTimeout(() => connection.socket?.close(), GREETING_MS);
  const settled = (): void => clearTimeout(late);
  connected.then(settled, settled);
  return { connection, session, connected };
}

/**
 * Hold what Bokeh would send until the returned function is called, and drop it after the end.
 *
 * The server has no ear for a page before it has greeted it. And between the other side's goodbye
 * and the `close` event a resize of the picture is sent, which the browser reports as an error.
 */
function holdBack(socket: WebSocket | null): () => void {
  if (socket === null) {
    return () => undefined;
  }
  const send = socket.send.bind(socket);
  let held: Parameters<typeof send>[0][] | null = [];
  socket.send = data => {
    if (held !== null) {
      held.push(data);
    } else if (socket.readyState === WebSocket.OPEN) {
      send(data);
    }
  };
  return () => {
    const early = held ?? [];
    held = null;
    early.forEach(data => socket.send(data));
  };
}
