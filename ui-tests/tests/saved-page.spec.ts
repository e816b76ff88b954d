// What is saved to a file draws by itself: without a server, a kernel or a network.
import { pathToFileURL } from 'node:url';

import { CLUSTER } from '../harness/ipynb';
import { expectToShow } from '../harness/picture';
import { expect, test } from '../harness/test';

const SAVE = `import time, dask_diag_lab
with dask_diag_lab.performance_report("report.html"):
    with dask_diag_lab.get_task_stream(plot="save", filename="stream.html"):
        client.gather(client.map(lambda x: time.sleep(0.02), range(100), pure=False))
dask_diag_lab.profile(filename="profile.html")
print("written")`;

test('saved streams, profiles and reports draw what ran', async ({ browser, lab, server }) => {
  const notebook = await lab.open(server.writeNotebook('save.ipynb', [CLUSTER, SAVE]));
  await notebook.run(0);
  await notebook.run(1);
  await expect(notebook.cell(1)).toContainText('written');

  const context = await browser.newContext({ offline: true });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', error => errors.push(error.message));
  page.on('request', asked => /^(file|data|blob):/.test(asked.url()) || errors.push(asked.url()));
  for (const name of ['stream', 'profile']) {
    await page.goto(pathToFileURL(server.path(`${name}.html`)).href);
    await expectToShow(page.locator('body'));
    // It fills the window, however few its rows are.
    const box = await page.locator('.jp-DaskDiag-stage').boundingBox();
    expect(box?.height ?? 0).toBeGreaterThan(0.85 * (page.viewportSize()?.height ?? Infinity));
  }
  await page.goto(pathToFileURL(server.path('stream.html')).href);
  const picture = page.locator('.jp-DaskDiag-stage');
  await expectToShow(page.locator('body'));
  const whole = await picture.screenshot();
  await picture.hover();
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -600);
  await page.keyboard.up('Control');
  await page.mouse.move(0, 0);
  const shot = async (): Promise<boolean> => whole.equals(await picture.screenshot());
  await expect.poll(shot).toBe(false);
  await picture.click({ position: { x: 3, y: 3 } });
  await page.keyboard.press('f');
  await page.mouse.move(0, 0);
  await page.evaluate(() => (document.activeElement as HTMLElement).blur()); // its outline
  await expect.poll(shot).toBe(true);
  await page.goto(pathToFileURL(server.path('report.html')).href);
  const panel = page.getByRole('tabpanel');
  await expect(page.getByRole('tab').first()).toHaveText('Where the Time Goes');
  for (const tab of (await page.getByRole('tab').all()).slice(0, -1)) {
    await tab.click();
    if ((await tab.textContent()) === 'Summary') {
      await expect(panel).toContainText('performance_report("report.html")');
      continue;
    }
    const plot = panel.locator('.jp-DaskDiag-plot');
    await expect(plot).toHaveAttribute('data-picture', 'true');
    await expect(plot).toHaveAttribute('data-state', 'live');
  }
  expect(errors).toEqual([]);
  await context.close();
});
