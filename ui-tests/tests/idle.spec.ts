// A change of size is the browser's own business.
import { CLUSTER } from '../harness/ipynb';
import { expect, test } from '../harness/test';

test('a pane of another size asks the kernel for nothing', async ({ lab, page, server }) => {
  let frames = 0;
  page.on('websocket', socket => {
    if (new URL(socket.url()).pathname.endsWith('/stream')) {
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
