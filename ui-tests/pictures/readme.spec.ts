// Takes the pictures of the README from a real run of the demo notebook: `make pictures`.
import * as path from 'node:path';

import { expectToShow } from '../harness/picture';
import { expect, test } from '../harness/test';

const IMAGES = path.resolve(__dirname, '..', '..', 'docs', 'images');
/** From the first block on disk to some more, and to orange in the stream as well. */
const INTO_SPILLING_MS = 2_000;

test.use({ viewport: { width: 1600, height: 1000 } });

test('the overview, light and dark', async ({ lab, page, server }) => {
  test.setTimeout(300_000);
  const notebook = await lab.open(server.copy('examples/demo.ipynb'));
  await notebook.run(0);
  await lab.sidebar();
  await expect(lab.item('task-stream')).toBeVisible();
  const stream = await lab.drag('task-stream', 'right');
  await lab.drag('progress', 'bottom', stream);
  const memory = await lab.drag('workers-memory', 'bottom', notebook.panel);
  await lab.drag('graph', 'right', memory);
  await notebook.run(1, 150_000);
  await notebook.start(2);
  await notebook.cell(2).evaluate(node => node.scrollIntoView({ block: 'start' }));
  await expect(memory.locator('.jp-DaskDiag-title')).toContainText('spilled', { timeout: 60_000 });
  await page.waitForTimeout(INTO_SPILLING_MS);
  await expectToShow(stream);
  await page.mouse.move(800, 5);
  await page.screenshot({ path: path.join(IMAGES, 'overview.png') });

  await notebook.ended(2, 90_000);
  await lab.command('apputils:change-theme', { theme: 'JupyterLab Dark' });
  await expect(page.locator('body')).toHaveAttribute('data-jp-theme-light', 'false');
  await expectToShow(stream);
  await page.waitForTimeout(1_000);
  await page.screenshot({ path: path.join(IMAGES, 'overview-dark.png') });
});
