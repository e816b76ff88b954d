/**
 * Dashboards that only their kernel's messages lead to, and that way.
 *
 * See docs/decisions/0008-ways-around-a-closed-way.md and `dask_diag_lab/server/channel.py`.
 */

import { KernelMessage, type Kernel } from '@jupyterlab/services';
import { UUID } from '@lumino/coreutils';
import { Signal, type ISignal } from '@lumino/signaling';

import { fieldsOf, isText, type Fields } from '../protocol/control';
import { listAfter, type IDashboard } from '../protocol/dashboard';
import type { ITranslate } from '../text';
import { NAMESPACE } from '../tokens';
import type { IPlotServer } from './remote';
import { bytesIn, PlotStream, type IConnection, type IReceiver } from './stream';

/** A dashboard with the way to it. */
export interface IChannelDashboard extends IDashboard {
  readonly channel: IPlotServer;
}

/** How often a page says that it still shows plots (ms). */
const KEEP_MS = 30_000;
/** An answer of which nothing came for so long is given up (ms). */
const SILENCE_MS = 60_000;

/** What came for the stream or a request of a page, or a part of it. */
interface IPart {
  readonly id: string;
  readonly kind: 'frame' | 'answer' | 'closed';
  /** More of the same follows. */
  readonly more: boolean;
  /** Of an answer: HTTP's. */
  readonly status?: number;
  /** Why it is closed. */
  readonly reason?: string;
}

/** Takes what comes for a stream or a request. */
type PartHandler = (part: Pick<IPart, 'kind' | 'status' | 'reason'>, bytes: ArrayBuffer) => void;

/** The kernels of this page, and the dashboards that they tell of. */
export class KernelChannels {
  constructor(private readonly _trans: ITranslate) {}

  get changed(): ISignal<unknown, void> {
    return this._changed;
  }

  get all(): readonly IChannelDashboard[] {
    const all = [...this._channels.values()].flatMap(channel => channel.dashboards);
    // A notebook and a console may share a kernel, each with a connection of its own.
    return all.filter(({ id }, i) => all.findIndex(one => one.id === id) === i);
  }

  /** Listen to a kernel until it is gone; harmless to repeat. */
  follow(kernel: Kernel.IKernelConnection): void {
    if (!this._channels.has(kernel)) {
      const channel = new KernelChannel(kernel, this._trans, () => this._changed.emit());
      this._channels.set(kernel, channel);
      kernel.disposed.connect(() => {
        channel.clear();
        this._channels.delete(kernel);
        this._changed.emit();
      });
    }
  }

  /** Have dashboards tell of themselves, though the Jupyter server reaches them. */
  ask(ids: readonly string[]): void {
    const known = new Set(this.all.map(({ id }) => id));
    for (const to of ids.filter(id => !known.has(id))) {
      this._channels.forEach(channel => void channel.ask({ to }));
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _channels = new Map<Kernel.IKernelConnection, KernelChannel>();
}

/** One kernel's messages. */
class KernelChannel {
  constructor(
    private readonly _kernel: Kernel.IKernelConnection,
    private readonly _trans: ITranslate,
    private readonly _onChanged: () => void
  ) {
    _kernel.iopubMessage.connect((_, message) => this._onMessage(message));
    _kernel.connectionStatusChanged.connect(() => void this.ask());
    _kernel.statusChanged.connect((_, status) => {
      if (status === 'restarting' || status === 'autorestarting' || status === 'dead') {
        this.clear();
        _onChanged();
      }
    });
    void this.ask();
  }

  get dashboards(): readonly IChannelDashboard[] {
    // Gateways may give kernels other ids than the machine that they run on.
    const kernel = { kernel_id: this._kernel.id };
    return this._list.map(one => ({ ...one, ...kernel, channel: this._serverOf(one.id) }));
  }

  /** Everything has ended. */
  clear(): void {
    this._servers.forEach(server => server.dispose());
    this._servers.clear();
    this._numbers.clear();
    this._list = [];
  }

  /** Have dashboards of before the page was loaded tell of themselves, also in a busy kernel. */
  async ask(to: { readonly to?: string } = {}): Promise<void> {
    // Jupyter knows its language, also while it is busy.
    const language = (await this._kernel.spec)?.language ?? '';
    const { connectionStatus, isDisposed } = this._kernel;
    if (!isDisposed && connectionStatus === 'connected' && language.toLowerCase() === 'python') {
      this._send({ do: 'ask', ...to });
    }
  }

  private _send(field: Fields): void {
    if (this._kernel.isDisposed || this._kernel.status === 'dead') {
      return;
    }
    const message = KernelMessage.createMessage<KernelMessage.ICommInfoRequestMsg>({
      msgType: 'comm_info_request',
      channel: 'shell',
      username: this._kernel.username,
      session: this._kernel.clientId,
      content: { target_name: NAMESPACE, [NAMESPACE]: field } as { target_name: string } // and ours
    });
    // Control takes what shell takes, and is not held up by a cell; Lab's types do not have that.
    const control = { ...message, channel: 'control' } as unknown as KernelMessage.IControlMessage;
    this._kernel.sendControlMessage(control, true);
  }

  private _onMessage({ header, content }: KernelMessage.IIOPubMessage): void {
    const { comm_id: comm, data } = content as Fields;
    if (header.msg_type !== 'comm_msg' || !isText(comm) || !comm.startsWith(`${NAMESPACE}-`)) {
      return;
    }
    const fields = fieldsOf(data, 'message');
    const last = this._numbers.get(comm);
    this._numbers.set(comm, Number(fields['n']));
    if (last !== undefined && last + 1 !== fields['n']) {
      // The Jupyter server has dropped some: what was open is not whole any more.
      this._servers.forEach(server => server.interrupt());
      void this.ask();
    }
    if ('changed' in fields) {
      this._take(fields);
    } else {
      const id = comm.slice(NAMESPACE.length + 1);
      this._servers.get(id)?.take(fields);
    }
  }

  private _take(fields: Fields): void {
    try {
      this._list = listAfter(this._list, fields);
    } catch {
      return; // it began before this page listened, which has asked, or is of another version
    }
    for (const [id, server] of this._servers) {
      if (!this._list.some(one => one.id === id)) {
        server.dispose();
        this._servers.delete(id);
      }
    }
    this._onChanged();
  }

  private _serverOf(id: string): ChannelServer {
    const known =
      this._servers.get(id) ??
      new ChannelServer(this._trans, field => this._send({ to: id, ...field }));
    this._servers.set(id, known);
    return known;
  }

  private readonly _servers = new Map<string, ChannelServer>();
  private readonly _numbers = new Map<string, number>();
  private _list: readonly IDashboard[] = [];
}

/** One dashboard's server, through the messages of its kernel. */
class ChannelServer implements IPlotServer {
  constructor(
    private readonly _trans: ITranslate,
    private readonly _send: (field: Fields) => void
  ) {
    this._keepAlive = setInterval(() => this.sendForAll('keep'), KEEP_MS);
    this.stream = new PlotStream(receiver => this._connect(receiver), _trans);
  }

  readonly stream: PlotStream;

  async get(path: string): Promise<unknown> {
    return JSON.parse(await (await this._fetch(path)).text());
  }

  /** Fetch a file into the page; its address is good until the page is left. */
  async url(path: string): Promise<string> {
    return URL.createObjectURL(await this._fetch(path));
  }

  /** Take what a message of the kernel holds, after those before it. */
  take(fields: Fields): void {
    const { part, payload, gzip } = fields;
    this._taking = Promise.all([bytesIn(String(payload), gzip === true), this._taking])
      .then(([bytes]) => this._pass(part as IPart, bytes)) // our kernel side's
      .catch(() => this.interrupt());
  }

  /** What is open is not whole any more, though the kernel goes on with it. */
  interrupt(): void {
    this.sendForAll('close');
    this._end(this._trans.__('Messages of the kernel were lost on their way.'));
  }

  dispose(): void {
    clearInterval(this._keepAlive);
    this._end(this._trans.__('The kernel is gone.'));
  }

  /** Have the kernel keep what is open, or close it. */
  sendForAll(what: 'keep' | 'close'): void {
    if (this._asked.size > 0) {
      this._send({ do: what, ids: [...this._asked.keys()] });
    }
  }

  private _connect({ onFrame, onClose }: IReceiver): IConnection {
    const id = this._ask('open', {}, ({ kind, reason }, bytes) =>
      kind === 'frame' ? onFrame(bytes) : onClose(reason ?? '')
    );
    return {
      send: text => this._asked.has(id) && this._send({ do: 'send', id, data: text }),
      close: () => this._asked.delete(id) && this._send({ do: 'close', ids: [id] })
    };
  }

  private _fetch(path: string): Promise<Blob> {
    return new Promise((resolve, reject) => {
      const id = this._ask('fetch', { path }, ({ status, reason }, bytes) => {
        clearTimeout(timer);
        if (status === 200) {
          const type = /\.js\b/.test(path) ? 'text/javascript' : '';
          resolve(new Blob([bytes], { type }));
        } else {
          reject(new Error(reason ?? new TextDecoder().decode(bytes).trim().slice(0, 500)));
        }
      });
      const timer = setTimeout(() => {
        this._asked.delete(id);
        reject(new Error(this._trans.__('The kernel does not answer.')));
      }, SILENCE_MS);
    });
  }

  /** Ask for something; returns the id of what comes. */
  private _ask(what: string, given: Fields, take: PartHandler): string {
    const id = UUID.uuid4();
    this._asked.set(id, { take, chunks: [] });
    this._send({ do: what, id, ...given });
    return id;
  }

  /** Pass on what a message holds, once it is whole. */
  private async _pass(part: IPart, bytes: ArrayBuffer): Promise<void> {
    const asked = this._asked.get(part.id);
    asked?.chunks.push(bytes);
    if (asked && !part.more) {
      const whole = new Blob(asked.chunks.splice(0));
      if (part.kind !== 'frame') {
        this._asked.delete(part.id);
      }
      asked.take(part, await whole.arrayBuffer());
    }
  }

  /** Nothing more comes for what is open. */
  private _end(reason: string): void {
    const asked = [...this._asked.values()];
    this._asked.clear();
    asked.forEach(({ take }) => take({ kind: 'closed', reason }, new ArrayBuffer(0)));
  }

  /** What is open, with what has come of a message that is not whole. */
  private readonly _asked = new Map<string, { take: PartHandler; chunks: ArrayBuffer[] }>();
  private readonly _keepAlive: ReturnType<typeof setInterval>;
  private _taking: Promise<void> = Promise.resolve();
}
