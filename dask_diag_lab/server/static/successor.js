// Which dashboard follows the one of this page: the Jupyter server tells it, on whose relay the
// page came. A page that was opened at the kernel's own port knows of no other dashboard.

const RELAYED = /^(.*\/dask-diag-lab\/)dashboards\/([^/]+)\/$/;
const ANSWER_MS = 10000;
const RETRY_FIRST_MS = 1000;
const RETRY_LAST_MS = 30000;

function readable(answer) {
  const { dashboards } = answer ?? {};
  return Array.isArray(dashboards) ? dashboards.filter(one => typeof one?.id === 'string') : [];
}

export class Successor {
  // Null for a page that did not come through a relay. Calls `onFound` with the place to go to.
  static of(base, plots, onFound) {
    const match = base.pathname.match(RELAYED);
    return match && new Successor(base, match[1], decodeURIComponent(match[2]), plots, onFound);
  }

  constructor(base, api, id, plots, onFound) {
    this.base = base;
    this.api = new URL(api, base);
    this.id = id;
    this.plots = plots; // names of those on the page; the next page is to have one at least
    this.onFound = onFound;
    this.own = null; // what was said of the page's dashboard while it was there
    this.beside = new Set(); // other clusters of the same notebook: no successors
    this.socket = null;
    this.timer = null;
    this.retryMs = RETRY_FIRST_MS;
  }

  // Learn whose dashboard this is, while it is there.
  async remember() {
    try {
      const reply = await fetch(new URL('api/dashboards', this.api), {
        credentials: 'same-origin',
        signal: AbortSignal.timeout(ANSWER_MS)
      });
      const all = reply.ok ? readable(await reply.json()) : [];
      this.own = all.find(one => one.id === this.id) ?? null;
      if (this.own?.state === 'live') {
        this.beside = new Set(all.map(one => one.id));
      }
    } catch (error) {
      console.debug('The dashboards of this server are not known:', error.message);
    }
  }

  get isWatching() {
    return this.socket !== null || this.timer !== null;
  }

  // Hear of every dashboard from now on, until `rest`; of no use where the page's own is unknown.
  watch() {
    if (this.isWatching || this.own === null) {
      return;
    }
    const url = new URL('api/events', this.api);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = (this.socket = new WebSocket(url.href));
    socket.addEventListener('message', event => {
      this.retryMs = RETRY_FIRST_MS;
      this.hear(readable(JSON.parse(event.data)));
    });
    socket.addEventListener('close', () => {
      if (this.socket === socket) {
        this.socket = null;
        this.timer = window.setTimeout(() => this.again(), this.retryMs);
        this.retryMs = Math.min(2 * this.retryMs, RETRY_LAST_MS);
      }
    });
  }

  again() {
    this.timer = null;
    this.watch();
  }

  rest() {
    const socket = this.socket;
    this.socket = null;
    socket?.close();
    window.clearTimeout(this.timer);
    this.timer = null;
  }

  hear(all) {
    const own = all.find(one => one.id === this.id);
    if (own !== undefined && own.state !== 'stale') {
      return;
    }
    const kin = all.filter(one => this.mayFollow(one));
    const scheduler = this.own.scheduler?.id;
    const next = kin.find(one => scheduler && one.scheduler?.id === scheduler) ?? kin.at(-1);
    if (next !== undefined) {
      this.rest();
      this.onFound(this.placeAt(next.id));
    }
  }

  mayFollow(one) {
    const { kernel_id: kernel, scheduler } = this.own;
    const isKin =
      (kernel && one.kernel_id === kernel) || (scheduler?.id && one.scheduler?.id === scheduler.id);
    const isNew = one.id !== this.id && !this.beside.has(one.id);
    const isReady = one.kind === 'diagnostics' && one.state === 'live' && Array.isArray(one.plots);
    return isKin && isNew && isReady && one.plots.some(({ name }) => this.plots.includes(name));
  }

  // The same page of another dashboard: plot, arguments and frame stay, a token does not.
  placeAt(id) {
    const place = new URL(window.location.href);
    const page = place.pathname.slice(this.base.pathname.length);
    place.pathname = `${this.api.pathname}dashboards/${encodeURIComponent(id)}/${page}`;
    place.searchParams.delete('token');
    return place;
  }
}
