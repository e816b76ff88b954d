/**
 * Dashboards and plots that come through kernels' messages.
 *
 * @jest-environment node
 */

import type { Kernel, KernelMessage } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';

import { KernelChannels } from '../api/channel';
import { fixture, trans } from './dashboards';
import { until } from './plots';

const { dashboards: listed } = fixture('dashboards/live.json') as { dashboards: { id: string }[] };
const { id } = listed[0]!;

/** One connection to a kernel, which a test speaks for. */
class FakeKernel {
  readonly id = 'k1';
  readonly connectionStatus = 'connected';
  readonly status = 'idle';
  readonly spec: Promise<{ language: string }>;
  readonly iopubMessage = new Signal<this, unknown>(this);
  readonly connectionStatusChanged = new Signal<this, void>(this);
  readonly statusChanged = new Signal<this, string>(this);
  readonly disposed = new Signal<this, void>(this);
  isDisposed = false;
  readonly asked: Record<string, unknown>[] = [];

  constructor(language = 'python') {
    this.spec = Promise.resolve({ language });
  }

  /** All that is used of one. */
  readonly asKernel = this as unknown as Kernel.IKernelConnection;

  sendControlMessage({ content }: KernelMessage.IMessage): void {
    this.asked.push((content as Record<string, Record<string, unknown>>)['dask-diag-lab']!);
  }

  say(data: object, n = this._said): void {
    this._said = n + 1;
    const content = { comm_id: `dask-diag-lab-${id}`, data: { n, ...data } };
    this.iopubMessage.emit({ header: { msg_type: 'comm_msg' }, content });
  }

  private _said = 0;
}

describe('kernels that tell of dashboards', () => {
  let channels: KernelChannels;
  let kernel: FakeKernel;
  const errors = jest.fn();
  const window = new EventTarget();
  Object.assign(globalThis, { window, reportError: errors });

  beforeEach(() => {
    channels = new KernelChannels(trans);
    kernel = new FakeKernel();
    follow(kernel);
  });
  afterEach(() => kernel.disposed.emit());

  function follow(one: FakeKernel): void {
    channels.follow(one.asKernel);
    one.say({ changed: listed, removed: [] });
  }

  /** Open a plot; returns its id and what is said to it. */
  function open(): { of: unknown; said: string[] } {
    const said: string[] = [];
    channels.all[0]!.channel.way('plots/x/ws').open([], {
      onMessage: text => {
        said.push(String(text));
        if (text === 'bad') {
          throw new Error('BokehJS does not like it.');
        }
      },
      onClose: reason => void said.push(`closed: ${reason}`)
    });
    return { of: kernel.asked.at(-1)!['id'], said };
  }

  function text(of: unknown, payload: string): object {
    const part = { id: of, kind: 'text', size: payload.length };
    return { parts: [part], gzip: false, payload: btoa(payload) };
  }

  it('lists one once that a notebook and a console tell of', () => {
    const console = new FakeKernel();
    follow(console);
    expect(channels.all.map(one => one.id)).toEqual([id]);
    kernel.disposed.emit();
    expect(channels.all.map(one => one.id)).toEqual([id]);
    console.disposed.emit();
    expect(channels.all).toEqual([]);
  });

  it('are asked in Python only, and by name where the Jupyter server has the dashboard', async () => {
    const r = new FakeKernel('R');
    follow(r);
    await until(() => kernel.asked.length === 1);
    channels.ask([id, 'far']);
    await until(() => kernel.asked.length === 2);
    expect(kernel.asked).toEqual([{ do: 'ask' }, { do: 'ask', to: 'far' }]);
    expect(r.asked).toEqual([]);
    r.disposed.emit();
  });

  it('goes on after a message that BokehJS does not like', async () => {
    const { of, said } = open();
    kernel.say(text(of, 'bad'));
    kernel.say(text(of, 'more'));
    await until(() => said.length === 2);
    expect(said).toEqual(['bad', 'more']);
    expect(errors).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['is lost', (of: unknown) => kernel.say(text(of, 'late'), 7)],
    ['cannot be read', (of: unknown) => kernel.say({ ...text(of, 'broken'), gzip: true })]
  ])('opens plots anew where a message %s, and has the kernel close them', async (_, say) => {
    const first = open();
    say(first.of);
    await until(() => first.said.length === 1);
    expect(first.said).toEqual(['closed: Messages of the kernel were lost on their way.']);
    expect(kernel.asked).toContainEqual({ to: id, do: 'close', ids: [first.of] });
    const second = open();
    kernel.say(text(second.of, 'ACK'));
    await until(() => second.said.length === 1);
    expect(second.said).toEqual(['ACK']);
  });

  it('are told when the page is left', () => {
    const { of } = open();
    window.dispatchEvent(new Event('pagehide'));
    expect(kernel.asked.at(-1)).toEqual({ to: id, do: 'close', ids: [of] });
  });
});
