// Which dashboard follows the one of this page: the Jupyter server tells it, on whose relay the
// page came. A page that was opened at the kernel's own port knows of no other dashboard.

const RELAYED = /^(.*\/dask-diag-lab\/)dashboards\/([^/]+)\/$/;
const ANSWER_MS = 10000;
const RETRY_FIRST_MS = 1000;
const RETRY_LAST_MS = 30000;
const AGAIN_MS = 30000; // who runs beside the page's own dashboard is looked up this often
const OVERLAP_MS = 30000; // a new cluster may begin this long before the one it replaces ends
const ASKING_MS = 300; // other pages of this browser have answered by then
const AWAY_MS = 2000; // a list without the page's own dashboard for less is that of a new server

function readable(answer) {
  const { dashboards } = answer ?? {};
  return Array.isArray(dashboards) ? dashboards.filter(one => typeof one?.id === 'string') : [];
}

export class Successor {
  // Null for a page that did not come through a relay. `rivalsOf(id)`: the other pages, for that of
  // a dashboard. `told.own()`: it is known now whose the page's dashboard is; `told.listed(own, all)`:
  // which ones there are, in the order in which they began, the page's own among them unless it has
  // left them since;
  // `told.next(heir, isTaken)`: with which one, by its id and the place of its page, this page can go
  // on, null for none any more; another page's, where it is taken.
  static of(base, plots, rivalsOf, told) {
    const match = base.pathname.match(RELAYED);
    if (match === null) {
      return null;
    }
    const id = decodeURIComponent(match[2]);
    return new Successor(base, match[1], id, plots, rivalsOf(id), told);
  }

  constructor(base, api, id, plots, rivals, told) {
    this.base = base;
    this.api = new URL(api, base);
    this.id = id;
    this.plots = plots; // names of those on the page; the next page is to have one at least
    this.rivals = rivals;
    this.told = told;
    this.own = null; // what was said of the page's dashboard last
    this.firstSeen = new Map(); // of all dashboards that were listed while the page's own was there
    this.endedAt = null; // the end of the page's own dashboard; null while it is there
    this.awaySince = null; // the first list without it, or with its end
    this.doing = '';
    this.turn = 0;
    this.socket = null;
    this.timer = null;
    this.patience = null;
    this.retryMs = RETRY_FIRST_MS;
  }

  // Look now and then who is there, while the page's own dashboard is; listen, when it is not; and
  // do nothing while nobody sees the page.
  attend(isThere, isSeen) {
    this.endedAt = isThere ? null : (this.endedAt ?? Date.now());
    if (!isSeen) {
      this.become('resting');
    } else if (isThere) {
      this.become('looking', () => this.look());
    } else {
      this.become('listening', () => this.listen());
    }
  }

  become(doing, begin = () => {}) {
    if (this.doing !== doing) {
      this.stop();
      this.doing = doing;
      begin();
    }
  }

  stop() {
    const socket = this.socket;
    this.socket = null;
    this.turn += 1;
    this.awaySince = null;
    socket?.close();
    window.clearTimeout(this.timer);
    window.clearTimeout(this.patience);
  }

  async look() {
    const turn = this.turn;
    const all = await this.listed();
    if (all === null) {
      this.retry(turn, () => this.look());
    } else {
      this.retryMs = RETRY_FIRST_MS;
      this.later(turn, AGAIN_MS, () => this.look());
      this.note(all);
    }
  }

  // Look once, whoever sees the page.
  async peek() {
    const all = await this.listed();
    if (all !== null) {
      this.note(all);
    }
  }

  // Return the dashboards of the server; null where nobody answers.
  async listed() {
    try {
      const reply = await fetch(new URL('api/dashboards', this.api), {
        credentials: 'same-origin',
        signal: AbortSignal.timeout(ANSWER_MS)
      });
      if (!reply.ok) {
        throw new Error(`the Jupyter server answered ${reply.status}`);
      }
      return readable(await reply.json());
    } catch (error) {
      console.debug('The dashboards of this server are not known:', error.message);
      return null;
    }
  }

  listen() {
    const turn = this.turn;
    const url = new URL('api/events', this.api);
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = (this.socket = new WebSocket(url.href));
    socket.addEventListener('message', event => {
      if (this.socket === socket) {
        this.retryMs = RETRY_FIRST_MS;
        this.hear(readable(JSON.parse(event.data)));
      }
    });
    socket.addEventListener('close', () => this.retry(turn, () => this.listen()));
  }

  // What belongs to a turn that is over is not gone on with.
  later(turn, waitMs, next) {
    if (turn === this.turn) {
      this.timer = window.setTimeout(next, waitMs);
    }
  }

  // After a failure, with growing pauses; that a turn is over is none.
  retry(turn, next) {
    if (turn === this.turn) {
      this.later(turn, this.retryMs, next);
      this.retryMs = Math.min(2 * this.retryMs, RETRY_LAST_MS);
    }
  }

  note(all) {
    const own = all.find(one => one.id === this.id);
    if (own === undefined) {
      if (this.own !== null) {
        this.told.listed(this.own, all);
      }
      return;
    }
    const isFirst = this.firstSeen.size === 0;
    if (own.state === 'live' && this.endedAt === null) {
      for (const { id } of all.filter(one => !this.firstSeen.has(one.id))) {
        this.firstSeen.set(id, isFirst ? -Infinity : Date.now());
      }
    }
    const wasKnown = this.own !== null;
    this.own = own;
    this.rivals.know(own.kernel_id, this.seenOf(own.kernel_id, all));
    if (!wasKnown) {
      this.told.own();
    }
    this.told.listed(own, all);
  }

  // Those of a kernel, in the order in which they began.
  seenOf(kernel, all) {
    return all
      .filter(one => one.kernel_id === kernel && this.firstSeen.has(one.id))
      .map(one => one.id);
  }

  hear(all) {
    window.clearTimeout(this.patience);
    this.note(all);
    const own = all.find(one => one.id === this.id);
    const isAway = own === undefined || own.state === 'stale';
    this.awaySince = isAway ? (this.awaySince ?? Date.now()) : null;
    const kin = isAway && this.own !== null ? all.filter(one => this.mayFollow(one)) : [];
    if (kin.length === 0) {
      this.told.next(null, false);
      return;
    }
    this.rivals.ask();
    const waitMs = Math.max(this.awaySince + AWAY_MS - Date.now(), ASKING_MS);
    this.patience = window.setTimeout(() => this.follow(kin, all), waitMs);
  }

  // The list has them in the order in which they began.
  follow(kin, all) {
    const scheduler = this.own.scheduler?.id;
    const same = kin.find(one => scheduler && one.scheduler?.id === scheduler);
    const live = all.filter(one => one.state === 'live').map(one => one.id);
    const ids = kin.map(one => one.id);
    const heir = same?.id ?? this.rivals.heir(ids, live);
    if (heir === undefined) {
      this.told.next(this.heirAt(kin[0].id), true);
      this.patience = window.setTimeout(() => this.hear(all), AGAIN_MS); // a page may be closed
    } else {
      this.told.next(this.heirAt(heir), false);
    }
  }

  mayFollow(one) {
    const { kernel_id: kernel, scheduler } = this.own;
    const isKin =
      (kernel && one.kernel_id === kernel) || (scheduler?.id && one.scheduler?.id === scheduler.id);
    const isNew = one.id !== this.id && !this.ranBeside(one.id);
    const isReady = one.kind === 'diagnostics' && one.state === 'live' && Array.isArray(one.plots);
    return isKin && isNew && isReady && one.plots.some(({ name }) => this.plots.includes(name));
  }

  // Another cluster of the same notebook, which was there long before the page's own ended.
  ranBeside(id) {
    return this.firstSeen.get(id) < this.endedAt - OVERLAP_MS;
  }

  // The page is left for that of another dashboard.
  leave(id) {
    this.rivals.leave(id);
  }

  heirAt(id) {
    return { id, place: this.placeAt(id) };
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
