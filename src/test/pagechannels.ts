/** Channels between pages, each of which hears what the others post; what BroadcastChannel does. */

export class PageChannel extends EventTarget {
  constructor(private readonly _channels: Channels) {
    super();
  }

  postMessage(data: unknown): void {
    for (const other of this._channels.all) {
      if (other !== this) {
        const copy: unknown = JSON.parse(JSON.stringify(data));
        other.dispatchEvent(new MessageEvent('message', { data: copy }));
      }
    }
  }
}

export class Channels {
  readonly all = new Set<PageChannel>();

  open(): PageChannel {
    const made = new PageChannel(this);
    this.all.add(made);
    return made;
  }

  close(channel: PageChannel): void {
    this.all.delete(channel);
  }
}
