// Which other pages of this browser wait for a successor as well. Of several clusters of a notebook
// each has its pages taken over by one new cluster, in the order in which they began; JupyterLab's
// panes keep the same rule (src/model/succession.ts).

const CHANNEL = 'dask-diag-lab:pages';
const MEMORY = 'dask-diag-lab:line';
const MAX_ORDER = 20; // clusters whose order a page remembers

// True where the line of `one` began before that of `other`; unknown to both, in the same way for all.
function isBefore(one, other) {
  for (const order of [other.order, one.order]) {
    const [first, second] = [order.indexOf(one.line), order.indexOf(other.line)];
    if (first >= 0 && second >= 0) {
      return first < second;
    }
  }
  return one.line < other.line;
}

// Return which of the new clusters takes over the page `me`, or undefined while none does. The newest
// are shared out, to those that wait in the order in which they began; of too few all.
//
// A page: the cluster it shows, `own`; `from`, the one it came from, or ''; `line`, the one with
// which it began; `kernel`; and `order`, the clusters it knows in the order in which they began.
export function heirOf(me, others, candidates, live) {
  const follower = others.find(one => one.from === me.own && candidates.includes(one.own));
  if (follower !== undefined) {
    return follower.own; // that of all pages of one cluster
  }
  const taken = others.filter(one => one.from !== '').map(one => one.own);
  const isServed = own => others.some(one => one.from === own && live.includes(one.own));
  const waiting = others.filter(
    one =>
      one.own !== me.own &&
      one.kernel === me.kernel &&
      !live.includes(one.own) &&
      !isServed(one.own)
  );
  const before = clustersOf(waiting.filter(one => isBefore(one, me)));
  const free = candidates.filter(id => !taken.includes(id));
  const surplus = free.length - clustersOf(waiting) - 1;
  return free[Math.max(0, surplus) + before];
}

// How many they show.
function clustersOf(pages) {
  return new Set(pages.map(one => one.own)).size;
}

function isPage(value) {
  const { own, from, line, order } = value ?? {};
  return [own, from, line].every(one => typeof one === 'string') && Array.isArray(order);
}

// How the page came to its cluster; nothing where it was opened there.
function remembered(own) {
  try {
    const memory = JSON.parse(window.sessionStorage.getItem(MEMORY));
    return isPage(memory) && memory.own === own ? memory : null;
  } catch (error) {
    console.debug('How this page came here is not known:', error.message);
    return null;
  }
}

// Null where the browser has none for this page, which then knows of no others.
function openChannel() {
  try {
    return new BroadcastChannel(CHANNEL);
  } catch (error) {
    console.debug('Other pages of this browser are not known:', error.message);
    return null;
  }
}

export class Rivals {
  constructor(own, channel = openChannel()) {
    const memory = remembered(own);
    this.me = {
      own,
      from: memory?.from ?? '',
      line: memory?.line ?? own,
      kernel: null,
      order: memory?.order ?? []
    };
    this.others = new Map();
    this.channel = channel;
    channel?.addEventListener('message', ({ data }) => this.hear(data));
    this.page = `${Date.now()} ${Math.random()}`; // also where the page's way is not encrypted
  }

  // What the page knows now of its kernel and of who is there, in the order of their beginnings.
  know(kernel, ids) {
    const { line } = this.me;
    const known = [...new Set([...this.me.order, ...ids])];
    // Without its own line nobody could tell where the page stands.
    const order = known.filter((id, i) => id === line || i >= known.length - MAX_ORDER);
    this.me = { ...this.me, kernel, order };
  }

  // The answers are there a moment later.
  ask() {
    this.others.clear();
    this.say(true);
  }

  heir(candidates, live) {
    return heirOf(this.me, [...this.others.values()], candidates, live);
  }

  // The page is left for that of its heir.
  leave(heir) {
    const { own, line, order } = this.me;
    try {
      window.sessionStorage.setItem(MEMORY, JSON.stringify({ own: heir, from: own, line, order }));
    } catch (error) {
      console.debug('How this page came there is not kept:', error.message);
    }
  }

  say(isAsking) {
    this.channel?.postMessage({ page: this.page, isAsking, ...this.me });
  }

  hear(message) {
    if (isPage(message)) {
      this.others.set(message.page, message);
      if (message.isAsking) {
        this.say(false);
      }
    }
  }
}
