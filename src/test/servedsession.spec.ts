/** How a page of a dashboard tells why a plot did not open. */

import { served } from './served';

interface IModule {
  openSession(plot: string, wish: object, isRelayed: boolean): Promise<unknown>;
  GoneError: new () => Error;
}

document.body.dataset['base'] = 'http://localhost/';
const { openSession, GoneError } = served<IModule>('session.js');

describe('opening a plot of a served page', () => {
  const opening = async (answer: Promise<unknown>, isRelayed = true): Promise<Error> => {
    jest.spyOn(globalThis, 'fetch').mockReturnValue(answer as never); // as much as is used
    return openSession('progress', {}, isRelayed).then(
      () => new Error('opened'),
      (reason: Error) => reason
    );
  };
  const late = (): Error => Object.assign(new Error('signal timed out'), { name: 'TimeoutError' });
  const broken = (): Promise<never> => Promise.reject(new TypeError('Failed to fetch'));
  const answered = (text: () => Promise<string>): Promise<unknown> =>
    Promise.resolve({ ok: true, text });

  afterEach(() => jest.restoreAllMocks());

  it('tells an answer that did not come in time, also from its middle on', async () => {
    const words = 'No answer within 60 s; the kernel may be busy.';
    expect((await opening(Promise.reject(late()))).message).toBe(words);
    expect((await opening(answered(() => Promise.reject(late())))).message).toBe(words);
  });

  it('tells an answer that broke off', async () => {
    expect((await opening(answered(broken))).message).toBe('The answer broke off.');
  });

  it('blames nobody for a way that is cut', async () => {
    expect((await opening(broken())).message).toBe('The Jupyter server cannot be reached.');
    const direct = await opening(broken(), false);
    expect(direct).toBeInstanceOf(GoneError);
    expect(direct.message).toBe('This address cannot be reached.');
  });

  it('asks for a script anew that neither came nor failed in time', async () => {
    jest.useFakeTimers();
    const reply = answered(() => Promise.resolve('{"token": "t", "scripts": ["slow.js"]}'));
    const asked = (): number => document.head.querySelectorAll('script[src$="slow.js"]').length;
    for (const time of ['first', 'second']) {
      const failed = opening(reply);
      await jest.advanceTimersByTimeAsync(1);
      expect([time, asked()]).toEqual([time, 1]);
      await jest.advanceTimersByTimeAsync(60_000);
      expect((await failed).message).toContain('No answer within 60 s');
      expect([time, asked()]).toEqual([time, 0]);
    }
    jest.useRealTimers();
  });

  it('gives up a server that does not greet, and says that it is not connected then', async () => {
    jest.useFakeTimers();
    const { session, connection } = await connected();
    expect(session.isOpen()).toBe(true);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(connection().socket).toBeNull();
    expect(session.isOpen()).toBe(false);
    jest.useRealTimers();
  });

  it('holds what a page sends until the server has greeted', async () => {
    const { session, connection, sent } = await connected();
    connection().socket?.send('resized');
    expect(sent).toEqual([]);
    connection().greet();
    await session.connected;
    expect(sent).toEqual(['resized']);
  });

  it('drops what comes after the goodbye, and closes on nonsense as browsers let it', async () => {
    const { connection, sent } = await connected();
    connection().greet();
    const socket = connection().socket!;
    socket.readyState = WebSocket.CLOSING;
    socket.send('resized');
    expect(sent).toEqual([]);
    socket.close = jest.fn();
    connection()._close_bad_protocol?.();
    expect(socket.close).toHaveBeenCalledWith(4002);
  });

  interface ISession {
    isOpen(): boolean;
    connected: Promise<unknown>;
  }

  interface IConnection {
    socket: { readyState: number; send(data: string): void; close(code?: number): void } | null;
    _close_bad_protocol?(): void;
    greet(): void;
    _repull_session_doc(resolve: (session: unknown) => void): void;
  }

  /** Open a plot with as much of BokehJS as its connection uses. */
  async function connected(): Promise<{
    session: ISession;
    connection: () => IConnection;
    sent: string[];
  }> {
    const sent: string[] = [];
    const made: IConnection[] = [];
    const connection = (): IConnection => made[0]!; // opening makes it
    class ClientConnection implements IConnection {
      socket: IConnection['socket'] = {
        readyState: WebSocket.OPEN,
        send: data => void sent.push(data),
        close: () => (this.socket = null)
      };
      greet: () => void = () => undefined;
      constructor() {
        made.push(this);
      }
      connect(): Promise<unknown> {
        return new Promise(resolve => (this.greet = () => this._repull_session_doc(resolve)));
      }
      _repull_session_doc: IConnection['_repull_session_doc'] = () => {
        throw new Error('the page has the document already');
      };
    }
    const ClientSession = jest.fn();
    const Document = { from_json: () => ({}) };
    const require = (): object => ({ ClientConnection, ClientSession, Document });
    Object.assign(window, { Bokeh: { require } });
    const text = '{"token": "t", "document": {}, "scripts": []}';
    const answer = answered(() => Promise.resolve(text));
    jest.spyOn(globalThis, 'fetch').mockReturnValue(answer as never); // as much as is used
    const session = (await openSession('progress', {}, true)) as ISession;
    return { session, connection, sent };
  }
});
