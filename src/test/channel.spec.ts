/**
 * Dashboards and plots that come through kernels' messages.
 *
 * @jest-environment node
 */

import type { Kernel, KernelMessage } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';

import { KernelChannels } from '../transport/channel';
import { fixture, trans } from './dashboards';
import { frameOf, until } from './plots';

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
  const window = new EventTarget();
  Object.assign(globalThis, { window });

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

  /** Open a plot; returns the id of the stream, and why the plot has ended. */
  function open(): { of: unknown; ended: jest.Mock; patches: jest.Mock } {
    const [ended, patches] = [jest.fn(), jest.fn()];
    const plot = channels.all[0]!.channel.stream.open({ plot: 'x', look: {}, arguments: {} });
    plot.document.catch(ended);
    plot.follow(patches, () => undefined);
    const opened = kernel.asked.filter(one => one['do'] === 'open');
    return { of: opened.at(-1)!['id'], ended, patches };
  }

  function patch(of: unknown, plot: string): object {
    const frame = frameOf({ type: 'patch', id: plot });
    const part = { id: of, kind: 'frame' };
    const payload = String.fromCharCode(...new Uint8Array(frame));
    return { part, gzip: false, payload: btoa(payload) };
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

  it('are one stream of all plots, whose messages come in parts', async () => {
    const [one, other] = [open(), open()];
    expect(other.of).toBe(one.of);
    expect(kernel.asked.filter(asked => asked['do'] === 'send')).toHaveLength(2);
    kernel.say(patch(one.of, '1'));
    const { payload } = patch(one.of, '2') as { payload: string };
    const [begin, rest] = [atob(payload).slice(0, 9), atob(payload).slice(9)];
    for (const [text, more] of [
      [begin, true],
      [rest, false]
    ] as const) {
      const part = { id: one.of, kind: 'frame', more };
      kernel.say({ part, gzip: false, payload: btoa(text) });
    }
    await until(() => other.patches.mock.calls.length === 1);
    expect(one.patches).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['is lost', (of: unknown) => kernel.say(patch(of, '1'), 7)],
    ['cannot be read', (of: unknown) => kernel.say({ ...patch(of, '1'), gzip: true })]
  ])('opens plots anew where a message %s, and has the kernel close them', async (_, say) => {
    const first = open();
    say(first.of);
    await until(() => first.ended.mock.calls.length === 1);
    expect(String(first.ended.mock.calls[0])).toContain('Messages of the kernel were lost');
    expect(kernel.asked).toContainEqual({ to: id, do: 'close', ids: [first.of] });
    const second = open();
    kernel.say(patch(second.of, '2'));
    await until(() => second.patches.mock.calls.length === 1);
  });
});
