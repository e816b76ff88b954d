// Playwright's `test` with one Jupyter server a worker, and a fresh Lab without kernels a test.
import { test as base, expect } from '@playwright/test';

import { Lab } from './lab';
import { IPlace, JupyterServer, USUAL_PLACE } from './server';

export { expect };

/** Errors of Lab, Notebook and other extensions are not ours to answer for. */
const OURS = /dask-diag-lab|bokeh/i;

/** Dask's own pages, in their frames, and their errors are not ours, such as when a scheduler goes. */
const FRAMED = /\/dask-diag-lab\/frames\//;

/** The browser's own lines about an answer; a dashboard that has just gone gives such. */
const REFUSED = /^Failed to load resource|handshake: Unexpected response code: 403/;

interface IPerTest {
  lab: Lab;
}

interface IPerWorker {
  place: IPlace;
  server: JupyterServer;
}

export const test = base.extend<IPerTest, IPerWorker>({
  place: [USUAL_PLACE, { scope: 'worker', option: true }],

  server: [
    async ({ place }, use) => {
      const server = await JupyterServer.start(place);
      await use(server);
      await server.stop();
    },
    { scope: 'worker', timeout: 120_000 }
  ],

  lab: async ({ page, server }, use, info) => {
    const errors: string[] = [];
    page.on('pageerror', error => {
      const text = error.stack ?? error.message;
      if (OURS.test(text) && !FRAMED.test(text)) {
        errors.push(text);
      }
    });
    page.on('console', message => {
      const text = `${message.text()} (${message.location().url})`;
      if (
        message.type() === 'error' &&
        OURS.test(text) &&
        !REFUSED.test(text) &&
        !FRAMED.test(text)
      ) {
        errors.push(text);
      }
    });
    await use(new Lab(page, server));
    expect.soft(errors.slice(0, 5), 'errors in the browser').toEqual([]);
    if (info.status !== info.expectedStatus) {
      await info.attach('browser', { body: errors.join('\n') });
      await info.attach('server', { body: server.log });
    }
    // Away from Lab first: it would offer to start the kernels again.
    await page.goto('about:blank');
    await server.endKernels();
  }
});
