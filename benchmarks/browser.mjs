// Scenarios that need a real browser: reads JSON arguments on stdin, prints JSON figures on stdout.
import { createRequire } from 'node:module';

const require = createRequire(new URL('../ui-tests/package.json', import.meta.url));
const { chromium } = require('@playwright/test');

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync'
];

const VIEWPORT = { width: 1400, height: 900 };

/** Between two plots that are opened one after the other: nobody asks for both at once. */
const PAUSE_MS = 1000;

/** Between press and release of a click, as of a hand: the pane opens at the release. */
const PRESS_MS = 80;

/** Count what arrives over HTTP and websockets. */
async function traffic(page) {
  const session = await page.context().newCDPSession(page);
  const seen = { bytes: 0 };
  await session.send('Network.enable');
  session.on('Network.loadingFinished', event => {
    seen.bytes += event.encodedDataLength;
  });
  session.on('Network.webSocketFrameReceived', event => {
    const { opcode, payloadData } = event.response;
    seen.bytes += opcode === 2 ? payloadData.length * 0.75 : payloadData.length;
  });
  return seen;
}

/**
 * Seconds since the moment of the page's clock called `began` (else since the page was asked for)
 * once a canvas in `place` holds more than a few colours; 0 until then.
 */
function pictureAfter([place, began]) {
  const canvases = [];
  const walk = root => {
    for (const node of root.querySelectorAll('*')) {
      if (node instanceof HTMLCanvasElement) {
        canvases.push(node);
      }
      if (node.shadowRoot) {
        walk(node.shadowRoot);
      }
    }
  };
  document.querySelectorAll(place).forEach(walk);
  const hasPicture = canvases.some(canvas => {
    if (!canvas.width || !canvas.height) {
      return false;
    }
    const copy = document.createElement('canvas');
    copy.width = 200;
    copy.height = 100;
    const context = copy.getContext('2d');
    context.drawImage(canvas, 0, 0, 200, 100);
    const data = new Uint32Array(context.getImageData(0, 0, 200, 100).data.buffer);
    return new Set(data).size > 40;
  });
  return hasPicture ? (performance.now() - (window[began] ?? 0)) / 1000 : 0;
}

/** Seconds from the moment of the page's clock called `began` until there is a canvas in `place`. */
async function canvasAfter([place, began]) {
  const holdsCanvas = root =>
    [...root.querySelectorAll('*')].some(
      node => node instanceof HTMLCanvasElement || (node.shadowRoot && holdsCanvas(node.shadowRoot))
    );
  const deadline = performance.now() + 60_000;
  for (;;) {
    await new Promise(done => requestAnimationFrame(done));
    const found = document.querySelector(place);
    const now = performance.now();
    if (found && holdsCanvas(found)) {
      return (now - (window[began] ?? 0)) / 1000;
    }
    if (now > deadline) {
      throw new Error(`no canvas in ${place} within a minute`);
    }
  }
}

/** Milliseconds of each of `n` redraws after zooming the first figure's x range. */
async function redraws(n) {
  const version = Object.keys(Bokeh).find(key => /^\d+\.\d+/.test(key));
  const bokeh = version ? Bokeh[version] : Bokeh;
  const figures = [];
  for (const doc of bokeh.documents) {
    for (const model of doc._all_models.values()) {
      if (model.type === 'Figure') {
        figures.push(model);
      }
    }
  }
  const range = figures[0].x_range;
  const times = [];
  for (let i = 0; i < n; i++) {
    const width = range.end - range.start;
    const shift = (i % 2 ? -1 : 1) * 0.05 * width;
    const began = performance.now();
    range.setv({ start: range.start + shift, end: range.end + shift });
    // BokehJS has asked for this frame before us, so it has painted when our turn comes.
    await new Promise(done => requestAnimationFrame(done));
    times.push(performance.now() - began);
  }
  return times;
}

/** Redraws a second of the first figure while its x range moves in every frame. */
async function redrawsPerSecond(milliseconds) {
  const version = Object.keys(Bokeh).find(key => /^\d+\.\d+/.test(key));
  const bokeh = version ? Bokeh[version] : Bokeh;
  const { PlotView } = bokeh.require('models/plots/plot_canvas');
  const name = 'actual_paint' in PlotView.prototype ? 'actual_paint' : 'paint';
  const paint = PlotView.prototype[name];
  let painted = 0;
  PlotView.prototype[name] = function (...given) {
    painted += 1;
    return paint.apply(this, given);
  };
  const models = bokeh.documents.flatMap(doc => [...doc._all_models.values()]);
  const range = models.find(model => model.type === 'Figure').x_range;
  const began = performance.now();
  for (let i = 0; performance.now() - began < milliseconds; i++) {
    const shift = (i % 40 < 20 ? -0.01 : 0.01) * (range.end - range.start);
    range.setv({ start: range.start + shift, end: range.end + shift });
    await new Promise(done => requestAnimationFrame(done));
  }
  return (1000 * painted) / (performance.now() - began);
}

const scenarios = {
  /** Open a page that draws a plot some times; how long and how much until there is a picture. */
  async plot(_, { url, steps, openings }) {
    const open = async context => {
      const page = await context.newPage();
      const seen = await traffic(page);
      await page.goto(url);
      const seconds = await page.waitForFunction(pictureAfter, ['body', ''], {
        polling: 20,
        timeout: 120_000
      });
      return { page, seen, seconds: await seconds.jsonValue() };
    };
    const first_s = [];
    let context, opened, bytes;
    for (let i = 0; i < openings; i++) {
      await context?.close();
      // Nothing is in the cache of a new context; the browser itself runs already.
      context = await browser.newContext({ viewport: VIEWPORT });
      opened = await open(context);
      first_s.push(opened.seconds);
      bytes = opened.seen.bytes;
    }
    const { page } = opened;
    await page.waitForTimeout(1500);
    const times = await page.evaluate(redraws, steps);
    const redraws_per_s = await page.evaluate(redrawsPerSecond, 3000);
    return { first_s, bytes, redraw_ms: times, redraws_per_s };
  },

  /** Open plots as Lab panes, one after the other; wait for the picture of one that is `pictured`. */
  async panes(page, { url, plots, pictured }) {
    await page.goto(url);
    await page.waitForFunction(() => window.jupyterapp?.commands && true, null, {
      timeout: 60_000
    });
    await page.waitForSelector('#jupyterlab-splash', { state: 'detached', timeout: 60_000 });
    await page.waitForSelector('#dask-diag-lab-sidebar', { state: 'attached' });
    await page.evaluate(() => window.jupyterapp.commands.execute('dask-diag-lab:show-sidebar'));
    await page.waitForSelector(`.jp-DaskDiag-plotItem[data-plot="${plots[0]}"]`, {
      timeout: 60_000
    });
    // Only the first group is open at first; finding a plot is not what is measured.
    const closed = page.locator('.jp-DaskDiag-groupToggle[aria-expanded="false"]');
    while ((await closed.count()) > 0) {
      await closed.first().click();
    }
    const seen = await traffic(page);
    const opened = [];
    await page.evaluate(() => {
      window.addEventListener('click', () => (window.clicked = performance.now()), true);
    });
    for (const plot of plots) {
      const before = seen.bytes;
      await page.locator(`.jp-DaskDiag-plotItem[data-plot="${plot}"]`).click({ delay: PRESS_MS });
      const pane = `.jp-DaskDiag-pane[data-plot="${plot}"]`;
      const seconds = await page.evaluate(canvasAfter, [pane, 'clicked']);
      const live_s = await page.evaluate(canvasAfter, [`${pane}[data-state="live"]`, 'clicked']);
      const one = { plot, seconds, live_s };
      if (plot === pictured) {
        const picture = await page.waitForFunction(pictureAfter, [pane, 'clicked'], {
          polling: 20
        });
        one.picture_s = await picture.jsonValue();
      }
      await page.waitForTimeout(PAUSE_MS);
      opened.push({ ...one, bytes: seen.bytes - before });
    }
    return { opened };
  },

  /** Open pages of the stock dashboard in turn in one tab each, as its users do. */
  async pages(page, { urls }) {
    const opened = [];
    for (const url of urls) {
      const tab = await page.context().newPage();
      const seen = await traffic(tab);
      await tab.goto(url);
      // The clock of a page begins when it was asked for.
      const seconds = await tab.evaluate(canvasAfter, ['body', '']);
      await tab.waitForTimeout(PAUSE_MS);
      opened.push({ seconds, bytes: seen.bytes });
    }
    return { opened };
  }
};

const text = await new Promise(done => {
  let read = '';
  process.stdin.on('data', chunk => (read += chunk));
  process.stdin.on('end', () => done(read));
});
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH || '/usr/bin/chromium',
  args: FLAGS
});
try {
  const context = await browser.newContext({ viewport: VIEWPORT });
  const page = await context.newPage();
  const answer = await scenarios[process.argv[2]](page, JSON.parse(text));
  process.stdout.write(JSON.stringify(answer));
} finally {
  await browser.close();
}
