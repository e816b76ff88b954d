// What is under the pointer is told: BokehJS knows glyphs by their kind only.
import { Locator, Page } from '@playwright/test';

import { CLUSTER } from '../harness/ipynb';
import { expect, test } from '../harness/test';

const PLOTS = ['task-stream', 'progress', 'workers-memory', 'nprocessing', 'cluster-memory'];

/** One long block a thread: wherever one points, it is on something. */
const LONG = `import time
client.gather(client.map(time.sleep, [3] * 4, pure=False))
held = client.map(lambda i: bytes(1_000_000), range(40), pure=False)`;

/** Move over the picture until it tells something. */
async function told(page: Page, pane: Locator): Promise<void> {
  await page.mouse.move(0, 0);
  const box = await pane.boundingBox();
  if (!box) {
    throw new Error('The pane is not there.');
  }
  const tooltip = page.locator('.bk-Tooltip, .ddl-tooltip').filter({ visible: true });
  await expect(tooltip).toHaveCount(0);
  for (let round = 0; round < 5; round++) {
    for (let y = box.y + 20; y < box.y + box.height - 20; y += 11) {
      const x = box.x + box.width * 0.3;
      await page.mouse.move(x - 2, y);
      await page.mouse.move(x, y);
      await page.waitForTimeout(50); // a tooltip is drawn in the next frame
      const shown = (await tooltip.count()) > 0 ? await tooltip.first().boundingBox() : null;
      if (shown !== null && shown.height > 20) {
        const gaps = [shown.x - x, x - shown.x - shown.width, shown.y - y];
        expect(Math.max(...gaps)).toBeLessThan(40); // beside the pointer
        return;
      }
    }
  }
  throw new Error('Nothing under the pointer is told.');
}

test('a plot tells what is under the pointer', async ({ lab, page, server }) => {
  const notebook = await lab.open(server.writeNotebook('pointing.ipynb', [CLUSTER, LONG]));
  await notebook.run(0);
  await notebook.run(1);
  await lab.sidebar();
  for (const plot of [...PLOTS].reverse()) {
    await lab.reveal(plot);
    await lab.command('dask-diag-lab:open-plot', { plot });
    await told(page, await lab.livePane(plot));
  }
});
