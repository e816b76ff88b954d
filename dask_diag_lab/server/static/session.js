// The way to the live document of one plot: asked for, with its scripts, and connected; each step
// ends in its time. Knows only relative addresses, so that it works behind any prefix.

export const base = new URL(document.body.dataset.base, window.location.href);
const ANSWER_MS = 60000; // a kernel that holds the interpreter answers when it lets go
const BAD_PROTOCOL = 4002; // 3000 to 4999 are for pages
const scripts = new Map();
// What the page began to fetch before this ran.
const hints = document.querySelectorAll('link[rel="preload"][as="script"]');
const hinted = [...hints].map(link => link.href);

// Behind Jupyter's relay a POST has to repeat Jupyter's cookie; there is none elsewhere.
function xsrf() {
  const match = document.cookie.match(/(?:^|; )_xsrf=([^;]*)/);
  return match ? { 'X-XSRFToken': match[1] } : {};
}

function load(href) {
  if (!scripts.has(href)) {
    scripts.set(
      href,
      new Promise((resolve, reject) => {
        const element = document.createElement('script');
        element.src = href;
        element.async = false; // those asked for together come together, and run in their order
        const fail = error => {
          window.clearTimeout(timer);
          element.remove();
          reject(error);
        };
        const timer = window.setTimeout(() => fail(lateError()), ANSWER_MS);
        element.addEventListener('load', () => {
          window.clearTimeout(timer);
          resolve();
        });
        element.addEventListener('error', () =>
          fail(new Error(`${new URL(href).pathname} could not be loaded`))
        );
        document.head.append(element);
      })
    );
  }
  return scripts.get(href);
}

// What comes after a script that failed has run without it: both are loaded again at the next try.
async function loadAll(hrefs) {
  const results = await Promise.allSettled(hrefs.map(load));
  const failed = results.findIndex(({ status }) => status === 'rejected');
  if (failed >= 0) {
    hrefs.slice(failed).forEach(href => scripts.delete(href));
    throw results[failed].reason;
  }
}

// What takes longer has failed.
function inTime(promise) {
  return new Promise((resolve, reject) => {
    const timer = window.setTimeout(() => reject(lateError()), ANSWER_MS);
    promise.finally(() => window.clearTimeout(timer)).then(resolve, reject);
  });
}

function lateError() {
  return new Error(`No answer within ${ANSWER_MS / 1000} s; the kernel may be busy.`);
}

// Jupyter knows no such dashboard; a dashboard that lacks a plot answers in plain words.
function isJupyters404(reply) {
  const type = reply.headers.get('Content-Type') ?? '';
  return reply.status === 404 && type.startsWith('application/json');
}

// Our own server answers in plain words, Jupyter's in JSON with a message.
function words(text) {
  try {
    return String(JSON.parse(text).message ?? '');
  } catch {
    return text.trim();
  }
}

// Nothing serves this dashboard any more, as far as can be told.
export class GoneError extends Error {}

// Browsers do not tell a server that is not there from a way to it that is cut.
function unreached(error, isRelayed) {
  if (error.name === 'TimeoutError') {
    return lateError();
  }
  return isRelayed
    ? new Error('The Jupyter server cannot be reached.')
    : new GoneError('This address cannot be reached.');
}

// The answer and its text, which have one time together.
async function ask(plot, wish, isRelayed) {
  const asked = fetch(new URL(`plots/${plot}/session`, base), {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'Content-Type': 'application/json', ...xsrf() },
    body: JSON.stringify(wish),
    signal: AbortSignal.timeout(ANSWER_MS)
  });
  const reply = await asked.catch(error => {
    throw unreached(error, isRelayed);
  });
  const text = await reply.text().catch(error => {
    throw error.name === 'TimeoutError' ? lateError() : new Error('The answer broke off.');
  });
  return { reply, text };
}

// Hold what Bokeh would send until the server has greeted, which has no ear for a page before that;
// drop it after the other side's goodbye, where the browser would report it as an error.
function holdBack(socket) {
  const send = socket.send.bind(socket);
  let held = [];
  socket.send = data => {
    if (held !== null) {
      held.push(data);
    } else if (socket.readyState === WebSocket.OPEN) {
      send(data);
    }
  };
  return () => {
    const early = held;
    held = null;
    early.forEach(data => socket.send(data));
  };
}

// Bokeh's connection to a document that is here already, so that it is drawn while the socket opens.
// JupyterLab's panes do the same (src/api/connection.ts).
function connect(plot, token, json) {
  const socket = new URL(`plots/${plot}/ws`, base);
  socket.protocol = socket.protocol === 'https:' ? 'wss:' : 'ws:';
  const { require } = window.Bokeh;
  const connection = new (require('client/connection').ClientConnection)(socket.href, token, '');
  const events = [];
  const document = require('document/document').Document.from_json(json, events);
  const session = new (require('client/session').ClientSession)(connection, document);
  connection.session = session;
  // Bokeh closes with a code that browsers refuse, and would go on with half a message.
  connection._close_bad_protocol = () => connection.socket?.close(BAD_PROTOCOL);
  const connected = connection.connect();
  const greeted = holdBack(connection.socket);
  // Bokeh asks for the document here, after the server's greeting.
  connection._repull_session_doc = resolve => {
    greeted();
    resolve(session);
  };
  for (const event of events) {
    document._trigger_on_change(event); // what the models changed of themselves when they were made
  }
  inTime(connected).catch(() => connection.socket?.close()); // the document hears of the end
  const isOpen = () => connection.socket !== null;
  return { document, connected, isOpen, close: () => session.close() };
}

// Return the session of a plot, drawn after a wish (look and arguments): its document, `close`, the
// promise `connected`, and `isOpen`, false once its connection has ended.
export async function openSession(plot, wish, isRelayed) {
  const asked = ask(plot, wish, isRelayed);
  loadAll(hinted).catch(() => {}); // while the server makes the picture; else after its answer
  const { reply, text } = await asked;
  if (!reply.ok) {
    const said = words(text) || `The server answered ${reply.status}.`;
    throw isRelayed && isJupyters404(reply) ? new GoneError(said) : new Error(said);
  }
  const { token, document, scripts: paths } = JSON.parse(text);
  await loadAll(paths.map(path => new URL(path, base).href));
  return connect(plot, token, document);
}
