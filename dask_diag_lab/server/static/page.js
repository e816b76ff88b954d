// Draws the plots of one of our own pages, natively, each in its element, like Lab's panes do.
// Knows only relative addresses, so that it works behind any prefix. No frameworks.

const base = new URL(document.body.dataset.base, window.location.href);
const RETRY_FIRST_MS = 1000;
const RETRY_LAST_MS = 30000;
const dark = window.matchMedia('(prefers-color-scheme: dark)');
const scripts = new Map();

function look() {
  const style = getComputedStyle(document.documentElement);
  const read = name => style.getPropertyValue(`--${name}`).trim();
  return {
    name: dark.matches ? 'dark' : 'light',
    foreground: read('foreground'),
    muted: read('muted'),
    grid: read('grid'),
    background: read('background'),
    accent: read('accent'),
    font: read('font'),
    font_size: read('font-size')
  };
}

// As Lab's panes say it: `12 s`, `3 min`, `2 h`; and 14:02:10.
function span(seconds) {
  if (seconds < 99.5) {
    return `${Math.round(seconds)} s`;
  }
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

function clock(time) {
  const parts = [time.getHours(), time.getMinutes(), time.getSeconds()];
  return parts.map(part => String(part).padStart(2, '0')).join(':');
}

// Behind Jupyter's relay a POST has to repeat Jupyter's cookie; there is none elsewhere.
function xsrf() {
  const match = document.cookie.match(/(?:^|; )_xsrf=([^;]*)/);
  return match ? { 'X-XSRFToken': match[1] } : {};
}

function load(path) {
  if (!scripts.has(path)) {
    scripts.set(
      path,
      new Promise((resolve, reject) => {
        const element = document.createElement('script');
        element.src = new URL(path, base).href;
        element.addEventListener('load', () => resolve());
        element.addEventListener('error', () => {
          scripts.delete(path);
          element.remove();
          reject(new Error(`${path} could not be loaded`));
        });
        document.head.append(element);
      })
    );
  }
  return scripts.get(path);
}

class PlotElement {
  constructor(article) {
    this.article = article;
    this.plot = article.dataset.plot;
    this.retryMs = RETRY_FIRST_MS;
    this.commands = 0;
    this.control = null;
    this.views = null;
    this.session = null;
    this.frozenAt = null; // the page's clock; null while the picture is not frozen
    this.part('behind').addEventListener('click', () => this.command('live'));
    article.tabIndex = 0;
    article.addEventListener('keydown', event => this.key(event));
  }

  part(name) {
    return this.article.querySelector(`.${name}`);
  }

  say(name, text) {
    const element = this.part(name);
    element.textContent = text;
    element.hidden = !text;
  }

  async open() {
    try {
      await this.draw();
      this.retryMs = RETRY_FIRST_MS;
    } catch (error) {
      this.offline(error.message);
    }
  }

  async draw() {
    const url = new URL(`plots/${this.plot}/session`, base);
    const reply = await fetch(url, {
      method: 'POST',
      credentials: 'same-origin',
      headers: { 'Content-Type': 'application/json', ...xsrf() },
      body: JSON.stringify({ look: look() })
    }).catch(() => {
      throw new Error('The client of this cluster was closed, or its kernel was stopped or restarted.');
    });
    if (!reply.ok) {
      throw new Error((await reply.text()).trim() || `The server answered ${reply.status}.`);
    }
    const { token, scripts: paths } = await reply.json();
    for (const path of paths) {
      await load(path);
    }
    const socket = new URL(`plots/${this.plot}/ws`, base);
    socket.protocol = socket.protocol === 'https:' ? 'wss:' : 'ws:';
    const { pull_session } = window.Bokeh.require('client/connection');
    this.close();
    this.session = await pull_session(socket.href, token);
    this.part('picture').replaceChildren();
    this.views = await window.Bokeh.embed.add_document_standalone(
      this.session.document,
      this.part('picture')
    );
    this.listen(this.session.document.roots().find(root => root.name === 'dask-diag-control'));
  }

  listen(control) {
    this.control = control;
    control.visible = !document.hidden;
    if (this.frozenAt !== null) {
      this.command('freeze'); // as it was before the connection ended
    }
    for (const name of ['state', 'message', 'empty', 'note', 'behind_s', 'frozen']) {
      control.properties[name].change.connect(() => this.show());
    }
    this.show();
    const session = this.session;
    session.document.on_event('connection_lost', () => {
      if (this.session === session) {
        this.offline('The client of this cluster was closed, or its kernel was stopped or restarted.');
      }
    });
  }

  show() {
    const { state, message, empty, note } = this.control;
    this.frozenAt = this.control.frozen ? (this.frozenAt ?? new Date()) : null;
    this.article.dataset.state = state;
    this.say('message', state === 'live' ? '' : message);
    this.say('empty', empty);
    this.say('note', note);
    this.say('behind', this.pill());
  }

  pill() {
    const { behind_s: behind } = this.control;
    if (behind > 0) {
      return `live is ${span(behind)} ahead`;
    }
    return this.frozenAt === null ? '' : `frozen at ${clock(this.frozenAt)}`;
  }

  command(verb) {
    if (this.control !== null) {
      this.commands += 1;
      this.control.command = JSON.stringify({ verb, n: this.commands });
    }
  }

  key(event) {
    const verbs = { f: 'fit', l: 'live', ' ': 'freeze' };
    const verb = verbs[event.key.toLowerCase()];
    if (verb && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      this.command(verb);
    }
  }

  offline(reason) {
    this.article.dataset.state = 'offline';
    const seconds = Math.round(this.retryMs / 1000);
    this.say('message', `${reason} Trying again in ${seconds} s.`);
    this.say('behind', '');
    this.control = null;
    window.setTimeout(() => this.open(), this.retryMs);
    this.retryMs = Math.min(2 * this.retryMs, RETRY_LAST_MS);
  }

  close() {
    this.control = null;
    this.views?.clear();
    this.views = null;
    this.session?.close();
    this.session = null;
  }
}

const elements = [...document.querySelectorAll('.plot')].map(article => new PlotElement(article));
for (const element of elements) {
  element.open();
}
document.addEventListener('visibilitychange', () => {
  for (const { control } of elements) {
    if (control !== null) {
      control.visible = !document.hidden;
    }
  }
});
dark.addEventListener('change', () => {
  for (const { control } of elements) {
    if (control !== null) {
      control.look = JSON.stringify(look());
    }
  }
});
