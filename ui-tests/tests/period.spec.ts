// One stretch of time for all panes of a cluster.
import { CLUSTER, WORK } from '../harness/ipynb';
import { expectPictures } from '../harness/picture';
import { expect, test } from '../harness/test';

test('a stretch marked in one plot is applied to all panes, and all go back to live', async ({
  lab,
  page,
  server
}) => {
  await page.setViewportSize({ width: 1600, height: 1000 });
  const notebook = await lab.open(server.writeNotebook('period.ipynb', [CLUSTER, WORK]));
  await notebook.run(0);
  await notebook.run(1);
  await lab.sidebar();
  const stream = await lab.drag('task-stream', 'right');
  const times = await lab.drag('compute-time-per-key', 'bottom', stream);
  await lab.drag('workers-memory', 'right', times);
  await expectPictures(stream, 4);
  await expect(stream.getByRole('button', { name: 'Apply to all panes' })).toBeHidden();

  const apply = stream.getByRole('button', { name: 'Apply to all panes' });
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

  const pill = lab.panes().locator('.jp-DaskDiag-pill');
  const words = pill.filter({ hasText: /\d s from .* · All panes/ });
  await expect(words).toHaveCount(2);
  await expect(pill.filter({ hasText: /^Not / })).toHaveCount(1);
  const progress = await lab.drag('progress', 'right', stream);
  await expect(progress.locator('.jp-DaskDiag-pill')).toContainText('All panes');

  await progress.getByRole('button', { name: 'Follow live data (L)' }).click();
  await expect(pill.filter({ hasText: /All panes|^Not / })).toHaveCount(0);
});
