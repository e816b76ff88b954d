import { PlotSocket, type IReceiver, type IWay } from '../plot/socket';

/** A way that a test speaks for. */
class FakeWay implements IWay {
  receiver: IReceiver | null = null;
  readonly sent: string[] = [];
  isClosed = false;
  hasWon = false;

  constructor(readonly note: string) {}

  open(_: readonly string[], receiver: IReceiver): ReturnType<IWay['open']> {
    this.receiver = receiver;
    return {
      send: text => void this.sent.push(text),
      close: () => {
        this.isClosed = true;
        receiver.onClose('left');
      }
    };
  }

  onWon(): void {
    this.hasWon = true;
  }
}

describe('the socket of a plot', () => {
  let direct: FakeWay;
  let polling: FakeWay;
  let socket: PlotSocket;
  let said: unknown[];

  beforeEach(() => {
    jest.useFakeTimers();
    direct = new FakeWay('');
    polling = new FakeWay('by polling');
    socket = new PlotSocket([direct, polling], ['bokeh', 'token']);
    said = [];
    socket.onopen = () => void said.push('open');
    socket.onmessage = ({ data }) => void said.push(data);
    socket.onclose = ({ reason }) => void said.push(`closed: ${reason}`);
  });
  afterEach(() => {
    socket.close();
    jest.useRealTimers();
  });

  it('opens with the first message, and sends the same way', () => {
    direct.receiver?.onMessage('ACK');
    socket.send('x');
    jest.advanceTimersByTime(10_000);
    expect(said).toEqual(['open', 'ACK']);
    expect([direct.sent, socket.note, polling.receiver]).toEqual([['x'], '', null]);
  });

  it('tries the next way at once when one fails, and ends with the last', () => {
    direct.receiver?.onClose('refused');
    expect([polling.receiver !== null, said]).toEqual([true, []]);
    polling.receiver?.onClose('');
    expect(said).toEqual(['closed: refused']);
  });

  it('takes the way that speaks first where one is silent for three seconds, and leaves the other', () => {
    jest.advanceTimersByTime(2900);
    expect(polling.receiver).toBeNull();
    jest.advanceTimersByTime(200);
    polling.receiver?.onMessage('ACK');
    direct.receiver?.onMessage('late');
    polling.receiver?.onMessage('more');
    expect(said).toEqual(['open', 'ACK', 'more']);
    expect([direct.isClosed, polling.hasWon, socket.note]).toEqual([true, true, 'by polling']);
    polling.receiver?.onClose('end');
    expect(said.slice(3)).toEqual(['closed: end']);
  });
});
