// Dask's own dashboard of a scheduler that was started elsewhere, in Lab's sidebar and panes.
import { FrameLocator, Locator } from '@playwright/test';

import { expectToMove, expectToShow } from '../harness/picture';
import { DaskScheduler } from '../harness/scheduler';
import { expect, test } from '../harness/test';

let scheduler: DaskScheduler;
test.beforeAll(async () => {
  scheduler = await DaskScheduler.start();
  scheduler.work();
});
test.afterAll(() => scheduler?.stop());

const frame = (pane: Locator): FrameLocator => pane.frameLocator('iframe').last();
const picture = (pane: Locator): Locator => frame(pane).locator('body');

test('a dashboard that is added by its address is listed, drawn in panes and removed', async ({
  lab,
  page,
  server
}) => {
  await lab.open(server.writeNotebook('plain.ipynb', ['1 + 1']));
  const sidebar = await lab.sidebar();
  await sidebar.getByRole('button', { name: 'Add a dashboard by its address…' }).first().click();
  const dialog = page.getByRole('dialog');
  const add = dialog.getByRole('button', { name: 'Add', exact: true });
  await dialog.getByRole('textbox').fill('http://127.0.0.1:1/status');
  await add.click();
  await expect(dialog).toContainText(/127\.0\.0\.1:1 /); // why not
  await dialog.getByRole('textbox').fill(`${scheduler.url}/status`);
  await add.click();
  await expect(dialog).toHaveCount(0);
  const section = sidebar.locator('section', { hasText: scheduler.name });
  await expect(section).toHaveAttribute('data-state', 'live');

  // Drawn, and without any right on Jupyter.
  const stream = await lab.drag('task-stream', 'right');
  await expectToMove(picture(stream));
  const rights = await picture(stream).evaluate(() => {
    const tried = (use: () => unknown): unknown => {
      try {
        return use();
      } catch (error) {
        return (error as Error).name;
      }
    };
    return [window.origin, tried(() => document.cookie), tried(() => parent.document.title)];
  });
  expect(rights).toEqual(['null', 'SecurityError', 'SecurityError']);

  // Over a frame a drag goes on; and a click in a frame is a use of its pane.
  const memory = await lab.drag('workers-memory', 'bottom', stream);
  await expectToShow(picture(memory));
  const used = page.locator('.jp-DaskDiag-paneTab.jp-mod-current');
  await expect(used).toHaveText('Workers Memory');
  await picture(stream).click({ position: { x: 5, y: 5 } });
  await expect(used).toHaveText('Task Stream');

  // What is clicked leads on to Dask's page of it.
  const opened = page.context().waitForEvent('page');
  const box = await memory.locator('iframe').boundingBox();
  await picture(memory).click({
    position: { x: (box?.width ?? 0) * 0.08, y: (box?.height ?? 0) * 0.3 }
  });
  const worker = await opened;
  await expect(worker.locator('body')).toContainText('Call Stack');
  await worker.close();

  // The scheduler goes and comes back.
  await scheduler.stop();
  await expect(stream).toHaveAttribute('data-state', 'stale');
  await expect(stream).toContainText(scheduler.name);
  await scheduler.start();
  scheduler.work();
  await expect(stream).toHaveAttribute('data-state', 'live');
  await expectToMove(picture(stream));

  await lab.command('dask-diag-lab:open-layout');
  await expectToShow(picture(await lab.livePane('graph')));

  // Bokeh's own tool saves a picture, under a name that it asks for; a frame that is made anew
  // takes its question with it. A press that a busy page finds long opens the tool's menu beside it.
  page.on('dialog', asking => void asking.accept('a name').catch(() => undefined));
  await expect(async () => {
    const icon = frame(await lab.livePane('graph')).locator('.bk-tool-icon.bk-tool-icon-save');
    const [saved] = await Promise.all([
      page.waitForEvent('download', { timeout: 5_000 }),
      icon.click({ timeout: 5_000 })
    ]);
    expect(saved.suggestedFilename()).toBe('a name.png');
  }).toPass({ timeout: 60_000 });

  await section.getByRole('button', { name: 'Actions of this cluster' }).click();
  await page.getByRole('menuitem', { name: 'Remove from the list' }).click();
  await expect(section).toHaveCount(0);
  await expect(stream).toHaveAttribute('data-state', 'offline');
  await expect(stream).toContainText('is not listed any more');
});
