// A picture saved to a file draws by itself: without a server, a kernel or a network.
import { pathToFileURL } from 'node:url';

import { CLUSTER } from '../harness/ipynb';
import { expectToShow } from '../harness/picture';
import { expect, test } from '../harness/test';

const SAVE = `import dask_diag_lab
with dask_diag_lab.get_task_stream(plot="save", filename="stream.html"):
    client.gather(client.map(lambda x: x + 1, range(100), pure=False))
print("written")`;

test('a saved task stream draws what ran', async ({ browser, lab, server }) => {
  const notebook = await lab.open(server.writeNotebook('save.ipynb', [CLUSTER, SAVE]));
  await notebook.run(0);
  await notebook.run(1);
  await expect(notebook.cell(1)).toContainText('written');

  const context = await browser.newContext({ offline: true });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', error => errors.push(error.message));
  await page.goto(pathToFileURL(server.path('stream.html')).href);
  await expectToShow(page.locator('body'));
  // It fills the window, however few its rows are.
  const box = await page.locator('.bk-Figure').boundingBox();
  expect(box?.height ?? 0).toBeGreaterThan(0.85 * (page.viewportSize()?.height ?? Infinity));
  expect(errors).toEqual([]);
  await context.close();
});
