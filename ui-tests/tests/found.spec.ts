// Dask's own dashboard of a scheduler on this machine, before and after a notebook is its client.
import { expectToMove } from '../harness/picture';
import { DaskScheduler } from '../harness/scheduler';
import { FINDING_PLACE } from '../harness/server';
import { expect, test } from '../harness/test';

test.use({ place: FINDING_PLACE });

let scheduler: DaskScheduler;
test.beforeAll(async () => {
  scheduler = await DaskScheduler.start();
});
test.afterAll(() => scheduler?.stop());

test('a scheduler is found by itself, and is one entry with ours once a notebook is its client', async ({
  lab,
  page,
  server
}) => {
  const connect = `from dask.distributed import Client\nclient = Client("${scheduler.address}")`;
  const notebook = await lab.open(server.writeNotebook('found.ipynb', [connect]));
  const sidebar = await lab.sidebar();
  const alone = sidebar.locator('section', { hasText: scheduler.name });
  await expect(alone).toContainText('2 workers · 4 threads · 1 GiB');
  scheduler.work();
  const fold = alone.locator('.jp-DaskDiag-fold');
  if ((await fold.getAttribute('aria-expanded')) === 'false') {
    await fold.click(); // other people's come first
  }
  await alone.locator('[data-plot="task-stream"] .jp-DaskDiag-plotButton').click();
  const stream = lab.panes('task-stream');
  await expect(stream).toHaveAttribute('data-state', 'live');
  const picture = stream.frameLocator('iframe').last().locator('body');
  await expectToMove(picture);
  const id = (await stream.getAttribute('data-dashboard')) ?? '';

  await notebook.run(0);
  const section = sidebar.locator('section', { hasText: 'found.ipynb' });
  const group = section.locator('[data-group="Dask’s dashboard"]');
  await expect(group.getByRole('button', { name: /^Dask’s dashboard/ })).toBeVisible();
  await expect(alone).toHaveCount(0);
  const row = group.locator('[data-plot="cluster-map"]');
  await expect(row).toBeHidden();
  await sidebar.getByRole('searchbox').fill('cluster map');
  await expect(row).toBeVisible();
  await sidebar.getByRole('searchbox').fill('');
  // What was open goes on, and ours is beside it.
  await expect(stream).toContainText('Dask’s dashboard of found.ipynb');
  await expect(page.locator('.jp-DaskDiag-paneTab')).toHaveText('Task Stream (Dask)');
  await lab.command('dask-diag-lab:open-plot', { plot: 'task-stream' });
  await expect(stream).toHaveCount(2);
  const ours = page.locator(`.jp-DaskDiag-pane[data-plot]:not([data-dashboard="${id}"])`);
  await expectToMove(ours);
  await expect(ours.locator('iframe')).toHaveCount(0);
});
