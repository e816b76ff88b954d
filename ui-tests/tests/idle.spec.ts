// Every plot of a cluster that has run nothing yet: BokehJS must not stumble over empty columns.
import type { ConsoleMessage } from '@playwright/test';

import { CLUSTER } from '../harness/ipynb';
import { expect, test } from '../harness/test';

interface IPlot {
  name: string;
}

test('every plot is drawn before anything has run', async ({ lab, page, server }) => {
  test.setTimeout(240_000);
  const notebook = await lab.open(server.writeNotebook('idle.ipynb', [CLUSTER]));
  await notebook.run(0);
  await lab.sidebar();
  const id = await lab.item('task-stream').getAttribute('data-dashboard');
  const root = `${server.url}dask-diag-lab/dashboards/${id}/`;
  const answer = await page.request.get(`${root}plots.json?token=${server.token}`);
  const { plots } = (await answer.json()) as { plots: IPlot[] }; // of the contract
  expect(plots.length).toBeGreaterThan(30);

  const tab = await page.context().newPage();
  const errors: string[] = [];
  tab.on('pageerror', error => errors.push(`${tab.url()}: ${error.message}`));
  tab.on('console', (message: ConsoleMessage) => {
    if (message.type() === 'error') {
      errors.push(`${tab.url()}: ${message.text()}`);
    }
  });
  for (const { name } of plots) {
    await tab.goto(`${root}plots/${name}?token=${server.token}`);
    await expect(tab.locator(`.plot[data-plot="${name}"] .jp-DaskDiag-plot`)).toHaveAttribute(
      'data-state',
      'live'
    );
    // A page that paints for ever answers nothing.
    await tab.evaluate(() => new Promise(requestAnimationFrame));
  }
  expect(errors).toEqual([]);
  await tab.close();
});

test('a pane of another size asks the kernel for nothing', async ({ lab, page, server }) => {
  let frames = 0;
  page.on('websocket', socket => {
    if (socket.url().includes('/plots/')) {
      socket.on('framesent', () => (frames += 1));
      socket.on('framereceived', () => (frames += 1));
    }
  });
  const notebook = await lab.open(server.writeNotebook('sizes.ipynb', [CLUSTER]));
  await notebook.run(0);
  const pane = await lab.drag('task-stream', 'right');
  // Bars by worker that stand still while nothing runs; a worker's memory does not.
  await lab.drag('nprocessing', 'bottom', pane);
  await expect
    .poll(async () => {
      const before = frames;
      await page.waitForTimeout(1500);
      return frames - before;
    })
    .toBe(0);
  const before = frames;
  expect(before).toBeGreaterThan(0);
  for (const width of [1300, 1200, 1100, 1000, 1100, 1200, 1300, 1400]) {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(() => new Promise(requestAnimationFrame));
  }
  await page.waitForTimeout(1000);
  expect(frames - before).toBe(0);
});
