// What cells made the cluster do, or a stretch of time, is shown in all plots; and the way back.
import * as fs from 'node:fs';

import { CLUSTER, WORK } from '../harness/ipynb';
import { expectPictures } from '../harness/picture';
import { expect, test } from '../harness/test';

const FIRST = `import time
def load(i):
    time.sleep(0.1)
    return i
total = client.gather(client.map(load, range(100)))`;
const SECOND = `def clean(i):
    time.sleep(0.02)
    return i
done = client.gather(client.map(clean, range(40)))`;
const WHOLE = `import time
from dask.distributed import Client
with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as client:
    client.gather(client.map(time.sleep, [1.5] * 4, pure=False))`;
const LONG = Array.from({ length: 60 }, (_, line) => `# line ${line}`).join('\n');

test('cells are runs: one is shown in all panes, leads to its cell, and is in the status bar', async ({
  lab,
  page,
  server
}) => {
  await page.setViewportSize({ width: 1600, height: 1000 });
  const cells = [CLUSTER, FIRST, LONG, SECOND, WORK];
  const notebook = await lab.open(server.writeNotebook('runs.ipynb', cells));
  await notebook.run(0);
  const sidebar = await lab.sidebar();
  const stream = await lab.drag('task-stream', 'right');
  await lab.drag('budget', 'bottom', stream);
  await notebook.run(1);
  const runs = sidebar.locator('.jp-DaskDiag-runs li');
  await expect(runs.filter({ hasText: 'client.map(load' })).toContainText('100 tasks');
  const line = page.locator('.jp-DaskDiag-status').getByText(/^cell \[2\]: .* idle/);
  await expect(line).toBeVisible();
  await notebook.run(3);
  await expect(runs.first()).toContainText('client.map(clean');
  await expect(runs).toHaveCount(2);

  await runs.filter({ hasText: 'load' }).getByRole('button').click();
  const pills = lab.panes().locator('.jp-DaskDiag-pill');
  await expect(pills.filter({ hasText: 'client.map(load' })).toHaveCount(2);
  await expect(lab.panes('budget')).toContainText('load');
  await expect(lab.panes('budget')).not.toContainText('clean');

  await runs.filter({ hasText: 'load' }).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Show its cell' }).click();
  const cell = notebook.panel.locator('.jp-Cell.jp-mod-active');
  await expect(cell).toContainText('def load');
  await expect(cell).toBeInViewport({ ratio: 0.9 });

  await sidebar.locator('.jp-DaskDiag-runs').getByRole('button', { name: 'Live' }).click();
  await expect(pills.filter({ hasText: 'client.map' })).toHaveCount(0);
  await line.click();
  await expect(pills.filter({ hasText: 'client.map(load' })).toHaveCount(2);

  await page.setViewportSize({ width: 1280, height: 720 });
  await runs
    .filter({ hasText: 'clean' })
    .getByRole('button')
    .click({ modifiers: ['Control'] });
  const compared = await lab.livePane('compare');
  await expect(compared).toContainText('[2] total');
  await expect(compared).toContainText('[3] done');
  await expect(lab.panes('task-stream')).toHaveCount(3);
  await expect(pills.filter({ hasText: 'client.map' })).toHaveCount(0);
  const streams = lab.panes('task-stream').filter({ visible: true });
  await expect(streams).toHaveCount(3);
  for (const pane of [compared, ...(await streams.all())]) {
    const { height } = (await pane.locator('.jp-DaskDiag-stage').boundingBox())!;
    expect(height).toBeGreaterThan(180);
  }
  await lab.saved('compared-');
  await streams.filter({ hasText: '[3] done' }).locator('.jp-DaskDiag-stage').hover();
  await page.keyboard.down('Control');
  await page.mouse.wheel(0, -300);
  await page.keyboard.up('Control');
  await lab.saved('"start"'); // the other one moves with it
  const pressed = sidebar.locator('.jp-DaskDiag-runs li [aria-pressed="true"]');
  await expect(pressed).toHaveCount(2);
  await runs.filter({ hasText: 'load' }).getByRole('button').click();
  await expect(pressed).toHaveCount(1);
  await expect(lab.panes('task-stream')).toHaveCount(1);
  await runs
    .filter({ hasText: 'clean' })
    .getByRole('button')
    .click({ modifiers: ['Control'] });
  await expect(lab.panes('task-stream')).toHaveCount(3);
  await lab.saved('compared-');
  await page.reload();
  await lab.restored();
  const restored = await lab.notebook('runs.ipynb');
  await expect(pressed).toHaveCount(2);
  await (await lab.livePane('compare')).focus();
  await lab.command('application:close'); // the comparison, and its streams with it
  await expect(lab.panes('task-stream')).toHaveCount(1);
  await page.setViewportSize({ width: 1600, height: 1000 });

  await lab.command('dask-diag-lab:close-plots');
  await lab.drag('task-stream', 'right');
  await lab.drag('compute-time-per-key', 'bottom', stream);
  await lab.drag('workers-memory', 'right', lab.panes('compute-time-per-key'));
  await restored.run(4);
  await expectPictures(stream, 4);
  const apply = stream.getByRole('button', { name: 'Apply to all panes' });
  await expect(apply).toBeHidden();
  // Again where panes have just moved.
  await expect(async () => {
    const { x, y, width, height } = (await stream.locator('canvas').first().boundingBox())!;
    await page.mouse.move(x + width * 0.3, y + height / 2);
    await page.keyboard.down('Alt');
    await page.mouse.down();
    await page.mouse.move(x + width * 0.5, y + height / 2, { steps: 5 });
    await page.mouse.up();
    await page.keyboard.up('Alt');
    await expect(apply).toBeVisible({ timeout: 5000 });
  }).toPass();
  await apply.click();
  await expect(pills.filter({ hasText: / from .* · All panes/ })).toHaveCount(2);
  await expect(pills.filter({ hasText: /^Not / })).toHaveCount(1);
  const progress = await lab.drag('progress', 'right', stream);
  await expect(progress.locator('.jp-DaskDiag-pill')).toContainText('All panes');
  await progress.getByRole('button', { name: 'Follow live data (L)' }).click();
  await expect(pills.filter({ hasText: /All panes|^Not / })).toHaveCount(0);
});

test('the run of a cell that closes its cluster is in the status bar, and can be saved', async ({
  lab,
  page,
  server
}) => {
  const notebook = await lab.open(server.writeNotebook('whole.ipynb', [WHOLE]));
  await notebook.run(0);
  await expect(
    page.locator('.jp-DaskDiag-status').getByText(/^cell \[1\]: \d+\.\d+ s.* idle/)
  ).toBeVisible();
  const run = (await lab.sidebar()).locator('.jp-DaskDiag-runs li');
  await run.click({ button: 'right' });
  const download = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: 'Save run…' }).click();
  expect((await download).suggestedFilename()).toBe(
    'client.gather-client.map-time.sleep-1.5-4-pure-False.daskrun'
  );
  expect(fs.readFileSync(await (await download).path(), 'latin1')).toMatch(/^PK.*meta\.json/s);
});
