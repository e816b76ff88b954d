// One plot of one of our own pages, drawn natively in its element, as Lab's panes do. No frameworks.

import { closedWords } from './closed.js';
import { adopt } from './figure_surface.js';
import { lift } from './picture_title.js';
import { GoneError, base, openSession } from './session.js';
import { theme } from './theme.js';
import { clock, span } from './times.js';

const RETRY_FIRST_MS = 1000;
const RETRY_LAST_MS = 30000;
const PATIENCE_MS = 1500;
const PLOT_NAME = /^[a-z0-9][a-z0-9-]*$/;
const NOT_ARGUMENTS = ['token', 'bare'];

// What a page of one plot is to show of many: its query.
function queryArguments() {
  if (document.body.dataset.kind !== 'single') {
    return {};
  }
  const query = new URLSearchParams(window.location.search);
  NOT_ARGUMENTS.forEach(name => query.delete(name));
  return Object.fromEntries(query);
}

export function look() {
  const style = getComputedStyle(document.documentElement);
  const read = name => style.getPropertyValue(`--${name}`).trim();
  return {
    name: theme.name,
    foreground: read('foreground'),
    muted: read('muted'),
    grid: read('grid'),
    background: read('background'),
    accent: read('accent'),
    font: read('font'),
    font_size: read('font-size')
  };
}

export class PlotElement {
  // `onState` is called when it may have become another one: connected, gone, or the feed's.
  constructor(article, isRelayed, onState) {
    this.article = article;
    this.isRelayed = isRelayed;
    this.onState = onState;
    this.plot = article.dataset.plot;
    this.retryMs = RETRY_FIRST_MS;
    this.commands = 0;
    this.control = null;
    this.views = null;
    this.session = null;
    this.frozenAt = null; // the page's clock; null while the picture is not frozen
    this.isOnScreen = false;
    this.isOpened = false;
    this.isGone = false;
    this.isConnected = false;
    this.part('behind').addEventListener('click', () => this.command('live'));
    article.tabIndex = 0;
    article.addEventListener('keydown', event => this.key(event));
    this.part('opening').addEventListener('click', () => this.say('opening', ''));
  }

  get isSeen() {
    return this.isOnScreen && !document.hidden && this.article.closest('[hidden]') === null;
  }

  // The server is there, its scheduler is not.
  get isAtEnd() {
    return ['lost', 'closed'].includes(this.control?.state);
  }

  // Its last pictures are served on, until the kernel stops or has another cluster.
  get isClosed() {
    return this.control?.state === 'closed';
  }

  // In a hidden tab of the page, scrolled away, or in a hidden window: costs nothing.
  seenChanged() {
    if (this.isSeen && !this.isOpened) {
      this.isOpened = true;
      this.open();
    } else if (this.control !== null) {
      this.control.visible = this.isSeen;
    }
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
    if (this.views === null) {
      this.say('empty', 'Waiting for the first picture …');
    }
    try {
      await this.draw();
      this.isGone = false;
    } catch (error) {
      this.isGone = error instanceof GoneError;
      this.offline(error.message);
    }
    this.onState();
  }

  async draw() {
    const wish = { look: look(), arguments: queryArguments() };
    const session = await openSession(this.plot, wish, this.isRelayed);
    this.close();
    this.session = session;
    this.part('picture').replaceChildren();
    lift(session.document.roots(), this.part('head'));
    this.views = await window.Bokeh.embed.add_document_standalone(
      session.document,
      this.part('picture')
    );
    [...this.views].forEach(adopt);
    if (!session.isOpen()) {
      throw new Error('The connection ended.');
    }
    this.isConnected = false;
    this.listen(session.document.roots().find(root => root.name === 'dask-diag-control'));
    this.awaitGreeting(session);
  }

  // There is a picture, and nothing follows it yet.
  awaitGreeting(session) {
    const late = window.setTimeout(() => this.say('message', 'Connecting …'), PATIENCE_MS);
    const end = () => window.clearTimeout(late);
    session.connected.then(end, end); // `offline` hears of a failure
    session.connected.then(
      () => {
        this.retryMs = RETRY_FIRST_MS; // not before: a proxy may let pictures through, and no sockets
        this.isConnected = true;
        if (this.control !== null) {
          this.show();
        }
      },
      () => {}
    );
  }

  listen(control) {
    this.control = control;
    control.visible = this.isSeen;
    if (this.frozenAt !== null) {
      this.command('freeze'); // as it was before the connection ended
    }
    const said = ['state', 'message', 'closed_at', 'empty', 'note', 'behind_s', 'frozen'];
    for (const name of said) {
      control.properties[name].change.connect(() => this.show());
    }
    control.properties.open.change.connect(() => this.follow(control.open));
    this.show();
    const session = this.session;
    session.document.on_event('connection_lost', () => {
      if (this.session === session) {
        this.offline('The connection ended.');
      }
    });
  }

  show() {
    const { state, empty, note } = this.control;
    this.frozenAt = this.control.frozen ? (this.frozenAt ?? new Date()) : null;
    this.article.dataset.state = this.isConnected ? state : 'connecting';
    this.say('message', this.stateWords());
    this.say('empty', empty);
    this.say('note', note);
    this.say('behind', this.pill());
    this.onState();
  }

  stateWords() {
    const { state, message, closed_at: closedAt } = this.control;
    if (this.isClosed) {
      return closedWords(new Date(1000 * closedAt), message);
    }
    return state === 'live' ? '' : message;
  }

  // A click in the picture asked for another plot. Browsers open a tab only soon after a click, and
  // do not tell when they refuse; then a link does it.
  follow(asked) {
    const { plot, arguments: given } = JSON.parse(asked);
    if (!PLOT_NAME.test(plot)) {
      return;
    }
    const url = new URL(`plots/${plot}`, base);
    url.search = new URLSearchParams(given).toString();
    if (navigator.userActivation?.isActive ?? true) {
      window.open(url.href, '_blank', 'noopener');
      return;
    }
    const link = this.part('opening');
    link.href = url.href;
    this.say('opening', `Open ${[plot, ...Object.values(given)].join(' · ').slice(0, 80)}`);
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
    } else if (this.frozenAt !== null && verb !== 'fit') {
      this.frozenAt = null; // without a connection, what was frozen can only be let go
      this.onState();
    }
  }

  key(event) {
    // A field inside a plot sits in a shadow root, so the event's target is not the field.
    if (event.composedPath()[0].matches?.('input, select, textarea, button')) {
      return;
    }
    const verbs = { f: 'fit', l: 'live', ' ': 'freeze' };
    const verb = verbs[event.key.toLowerCase()];
    if (verb && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      this.command(verb);
    }
  }

  offline(reason) {
    this.article.dataset.state = 'offline';
    this.say('empty', '');
    const seconds = Math.round(this.retryMs / 1000);
    this.say('message', `${reason} Trying again in ${seconds} s.`);
    this.say('behind', '');
    this.control = null;
    window.setTimeout(() => this.again(), this.retryMs);
    this.retryMs = Math.min(2 * this.retryMs, RETRY_LAST_MS);
  }

  again() {
    if (this.isSeen) {
      this.open();
    } else {
      this.isOpened = false; // when it is seen
    }
  }

  close() {
    this.control = null;
    this.views?.clear();
    this.views = null;
    this.session?.close();
    this.session = null;
  }
}
