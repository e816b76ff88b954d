/** How a plot's connection behaves before its socket is open, while it is, and after. */

import { connect } from '../api/connection';
import type { IBokeh, IBokehConnection, IBokehSession } from '../api/bokeh';

class Socket {
  readyState: number = WebSocket.CONNECTING;
  readonly sent: string[] = [];
  readonly send = (data: string): void => {
    this.sent.push(data);
  };
  readonly close = jest.fn();
}

interface IStand {
  socket: Socket;
  document: { json: object | null };
  session: IBokehSession;
  reply: { document: object };
  open(): void;
}

/** What of BokehJS a connection uses; `open` is the end of the handshake and the greeting. */
function stand(): IStand {
  const socket = new Socket();
  const document = { json: null as object | null };
  class ClientConnection {
    readonly socket = socket;
    session: IBokehSession | null = null;
    _repull_session_doc: (resolve: (session: unknown) => void) => void = () => {
      throw new Error('the page has the document already');
    };
    greet: () => void = () => undefined;
    connect(): Promise<unknown> {
      return new Promise(resolve => (this.greet = () => this._repull_session_doc(resolve)));
    }
  }
  class ClientSession {
    constructor(
      readonly connection: ClientConnection,
      readonly document: unknown
    ) {}
  }
  const from_json = (json: object, events: unknown[]): object => {
    document.json = json;
    events.push('made');
    const _trigger_on_change = (event: unknown): void => socket.send(`patch: ${String(event)}`);
    return { _trigger_on_change };
  };
  const bokeh = {
    require: () => ({ ClientConnection, ClientSession, Document: { from_json } })
  } as unknown as IBokeh;
  const reply = { token: 't', document: { roots: [] }, bokeh: '3', scripts: [], later: [] };
  const { connection, session } = connect(bokeh, 'ws://localhost/ws', reply, '');
  const { greet } = connection as unknown as ClientConnection;
  const open = (): void => {
    socket.readyState = WebSocket.OPEN;
    greet();
  };
  return { socket, document, session, reply, open };
}

describe('the connection of a plot', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('has the document of the reply before the socket is open', () => {
    const { document, reply, session } = stand();
    expect(document.json).toBe(reply.document);
    expect(session.document).toBeDefined();
  });

  it('sends nothing before the greeting, and then all in its order', () => {
    const { socket, open } = stand();
    socket.send('resized');
    expect(socket.sent).toEqual([]);
    open();
    expect(socket.sent).toEqual(['patch: made', 'resized']);
    socket.send('zoomed');
    expect(socket.sent).toEqual(['patch: made', 'resized', 'zoomed']);
  });

  it('drops what comes after the end', () => {
    const { socket, open } = stand();
    open();
    socket.readyState = WebSocket.CLOSING;
    socket.send('resized');
    expect(socket.sent).toEqual(['patch: made']);
  });

  it('closes on nonsense as browsers let it', () => {
    const { socket, session } = stand();
    const { connection } = session as unknown as { connection: IBokehConnection };
    connection._close_bad_protocol('half a message');
    expect(socket.close).toHaveBeenCalledWith(4002);
  });

  it('gives a server up that does not greet', () => {
    const { socket } = stand();
    jest.advanceTimersByTime(59_000);
    expect(socket.close).not.toHaveBeenCalled();
    jest.advanceTimersByTime(2_000);
    expect(socket.close).toHaveBeenCalledTimes(1);
  });

  it('does not give up a server that has greeted', async () => {
    const { socket, open } = stand();
    open();
    await jest.advanceTimersByTimeAsync(70_000);
    expect(socket.close).not.toHaveBeenCalled();
  });
});
