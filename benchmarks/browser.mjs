// Scenarios that need a real browser: reads JSON arguments on stdin, prints JSON figures on stdout.
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';

const require = createRequire(new URL('../ui-tests/package.json', import.meta.url));
const { chromium } = require('@playwright/test');

const VIEWPORT = { width: 1400, height: 900 };

/** Between two plots that are opened one after the other: nobody asks for both at once. */
const PAUSE_MS = 1000;

/** Between press and release of a click, as people do: the pane opens at the release. */
const PRESS_MS = 80;

/** Colours of a canvas that holds a picture, not only its background and axes. */
const PICTURE = 40;

/** Count what arrives over HTTP and websockets. */
async function traffic(page) {
  const session = await page.context().newCDPSession(page);
  const seen = { bytes: 0 };
  await session.send('Network.enable');
  session.on('Network.loadingFinished', event => {
    seen.bytes += event.encodedDataLength;
  });
  session.on('Network.webSocketFrameReceived', ({ response: { opcode, payloadData } }) => {
    seen.bytes += opcode === 2 ? payloadData.length * 0.75 : payloadData.length;
  });
  return seen;
}

/**
 * Seconds since the moment of the page's clock called `began` (else since the page was asked for)
 * until a canvas in `place` has more than so many colours.
 */
async function drawnAfter([place, began, colours]) {
  const canvases = root =>
    [...root.querySelectorAll('*')].flatMap(node => [
      ...(node instanceof HTMLCanvasElement ? [node] : []),
      ...(node.shadowRoot ? canvases(node.shadowRoot) : [])
    ]);
  const coloursOf = canvas => {
    if (!canvas.width || !canvas.height) {
      return 0;
    }
    const copy = document.createElement('canvas');
    copy.width = 200;
    copy.height = 100;
    const context = copy.getContext('2d');
    context.drawImage(canvas, 0, 0, 200, 100);
    return new Set(new Uint32Array(context.getImageData(0, 0, 200, 100).data.buffer)).size;
  };
  const deadline = performance.now() + 120_000;
  for (;;) {
    await new Promise(done => requestAnimationFrame(done));
    const now = performance.now();
    const found = [...document.querySelectorAll(place)].flatMap(canvases);
    if (found.some(canvas => !colours || coloursOf(canvas) > colours)) {
      return (now - (window[began] ?? 0)) / 1000;
    }
    if (now > deadline) {
      throw new Error(`no canvas in ${place} within two minutes`);
    }
  }
}

/** A new page in which what our plots are drawn with can be reached; only our scripts see it else. */
async function openedUp(browser) {
  const page = await (await browser.newContext({ viewport: VIEWPORT })).newPage();
  await page.route('**/dist/dask_diag_lab.js*', async route => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `${await response.text()}window.DrawnWith = Bokeh;` });
  });
  return page;
}

/** Pan the first figure; milliseconds of each of `steps` redraws. */
async function panned(steps) {
  const bokeh = window.DrawnWith ?? Bokeh;
  const models = bokeh.documents.flatMap(doc => [...doc._all_models.values()]);
  const range = models.find(model => model.type === 'Figure').x_range;
  const redraw_ms = [];
  for (let i = 0; i < steps; i++) {
    const by = (i % 2 ? -0.05 : 0.05) * (range.end - range.start);
    const began = performance.now();
    range.setv({ start: range.start + by, end: range.end + by });
    // BokehJS has asked for this frame before us, so it has painted when our turn comes.
    await new Promise(done => requestAnimationFrame(done));
    redraw_ms.push(performance.now() - began);
  }
  return { redraw_ms };
}

/** Load JupyterLab and wait until its commands are there. */
async function openLab(page, url) {
  await page.goto(url);
  await page.waitForFunction(() => window.jupyterapp?.commands && true, null, {
    timeout: 60_000
  });
  await page.waitForSelector('#jupyterlab-splash', { state: 'detached', timeout: 60_000 });
  await page.waitForSelector('#dask-diag-lab-sidebar', { state: 'attached', timeout: 60_000 });
}

/** Open one of `plots` of any cluster as a pane; nothing when there is none just now. */
async function openAny(plots) {
  const answer = await fetch('/dask-diag-lab/api/dashboards');
  const { dashboards } = await answer.json();
  const ours = dashboards.filter(({ kind }) => kind === 'diagnostics');
  const [dashboard, plot] = [ours, plots].map(all => all[Math.floor(Math.random() * all.length)]);
  if (dashboard) {
    await window.jupyterapp.commands.execute('dask-diag-lab:open-plot', {
      plot,
      dashboard: dashboard.id
    });
  }
}

/** Close all panes. */
async function closeAll() {
  for (const widget of [...window.jupyterapp.shell.widgets('main')]) {
    if (widget.hasClass('jp-DaskDiag-pane') || widget.node.querySelector('.jp-DaskDiag-pane')) {
      widget.close();
    }
  }
}

/** What a page holds after its garbage was collected. */
async function held(page, session, sockets) {
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const documents = await page.evaluate(() => window.DrawnWith?.documents.length ?? 0);
  return {
    'JavaScript heap': usedSize / 1e6,
    documents,
    websockets: sockets.size
  };
}

/** Open and close panes in the rounds of viewers; what the page held at rest. */
async function visit(page, url, { until, round_s, rest_s, plots }) {
  const session = await page.context().newCDPSession(page);
  const sockets = new Set();
  await session.send('Network.enable');
  session.on('Network.webSocketCreated', ({ requestId }) => sockets.add(requestId));
  session.on('Network.webSocketClosed', ({ requestId }) => sockets.delete(requestId));
  await openLab(page, url);
  const samples = [];
  while (Date.now() / 1000 < until) {
    const left_s = round_s - ((Date.now() / 1000) % round_s);
    if (left_s > rest_s) {
      await page.evaluate(openAny, plots);
      await page.waitForTimeout(500 + 1500 * Math.random());
      if (Math.random() < 0.3) {
        await page.evaluate(closeAll);
      }
    } else {
      await page.evaluate(closeAll);
      await page.waitForTimeout(500 * left_s);
      samples.push([Date.now() / 1000, await held(page, session, sockets)]);
      await page.waitForTimeout(1000 * (round_s - ((Date.now() / 1000) % round_s)));
    }
  }
  return samples;
}

const scenarios = {
  /** A page that stays for long. */
  async soak(browser, { url, token, ...given }) {
    return visit(await openedUp(browser), `${url}/lab?token=${token}&reset`, given);
  },

  /** Open a page that draws a plot some times; how long and how much until there is a picture. */
  async plot(browser, { url, steps, openings }) {
    const first_s = [];
    const bytes = [];
    for (let i = 0; i < openings; i++) {
      // Nothing is in the cache of a new context; the browser itself runs already.
      const context = await browser.newContext({ viewport: VIEWPORT });
      const page = await context.newPage();
      const seen = await traffic(page);
      await page.goto(url);
      first_s.push(await page.evaluate(drawnAfter, ['body', '', PICTURE]));
      bytes.push(seen.bytes);
      await context.close();
    }
    const page = await openedUp(browser);
    await page.goto(url);
    await page.evaluate(drawnAfter, ['body', '', PICTURE]);
    await page.waitForTimeout(1500);
    return { first_s, bytes, ...(await page.evaluate(panned, steps)) };
  },

  /** Open plots as Lab panes, one after the other; wait for the picture of one that is `pictured`. */
  async panes(browser, { url, plots, pictured }) {
    const page = await browser.newPage({ viewport: VIEWPORT });
    await openLab(page, url);
    await page.evaluate(() => window.jupyterapp.commands.execute('dask-diag-lab:show-sidebar'));
    // Dask's own dashboard of the cluster has plots of the same names.
    const ours = await page.waitForFunction(async () => {
      const { dashboards } = await (await fetch('/dask-diag-lab/api/dashboards')).json();
      return dashboards.find(({ kind }) => kind === 'diagnostics')?.id;
    });
    const entry = `.jp-DaskDiag-plotItem[data-dashboard="${await ours.jsonValue()}"]`;
    const item = plot => `${entry}[data-plot="${plot}"]`;
    await page.waitForSelector(item(plots[0]), { timeout: 60_000 });
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
      await page.locator(item(plot)).click({ delay: PRESS_MS });
      const pane = `.jp-DaskDiag-pane[data-plot="${plot}"]`;
      const seconds = await page.evaluate(drawnAfter, [pane, 'clicked', 0]);
      const live = `${pane}[data-state="live"]`;
      const live_s = await page.evaluate(drawnAfter, [live, 'clicked', 0]);
      const picture_s =
        plot === pictured ? await page.evaluate(drawnAfter, [pane, 'clicked', PICTURE]) : null;
      await page.waitForTimeout(PAUSE_MS);
      opened.push({ plot, seconds, live_s, picture_s, bytes: seen.bytes - before });
    }
    return { opened };
  },

  /** Open pages of the stock dashboard in turn in one tab each, as its users do. */
  async pages(browser, { urls }) {
    const context = await browser.newContext({ viewport: VIEWPORT });
    const opened = [];
    for (const url of urls) {
      const page = await context.newPage();
      const seen = await traffic(page);
      await page.goto(url);
      // The clock of a page begins when it was asked for.
      const seconds = await page.evaluate(drawnAfter, ['body', '', 0]);
      await page.waitForTimeout(PAUSE_MS);
      opened.push({ seconds, bytes: seen.bytes });
    }
    return { opened };
  }
};

const given = JSON.parse(await text(process.stdin));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_PATH || '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-sync']
});
try {
  const answer = await scenarios[process.argv[2]](browser, given);
  process.stdout.write(JSON.stringify(answer));
} finally {
  await browser.close();
}
