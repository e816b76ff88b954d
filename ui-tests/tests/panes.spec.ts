// Panes: their size, their cells, their theme, the buttons over them.
import * as fs from 'node:fs';

import { CLUSTER, WORK } from '../harness/ipynb';
import { expectToShow, pictureOf } from '../harness/picture';
import { expect, test } from '../harness/test';

test('panes follow sizes, work and themes, freeze and are saved by their buttons', async ({
  lab,
  page,
  server
}) => {
  let frames = 0;
  page.on('websocket', socket => {
    if (new URL(socket.url()).pathname.endsWith('/stream')) {
      socket.on('framesent', () => (frames += 1));
      socket.on('framereceived', () => (frames += 1));
    }
  });
  const notebook = await lab.open(server.writeNotebook('panes.ipynb', [CLUSTER, WORK]));
  await notebook.run(0);
  const stream = await lab.drag('task-stream', 'right');

  await test.step('another size asks the kernel for nothing', async () => {
    // Bars by worker that stand still while nothing runs; a worker's memory does not.
    await lab.drag('nprocessing', 'bottom', stream);
    await expect
      .poll(async () => {
        const before = frames;
        await page.waitForTimeout(1500);
        return frames - before;
      })
      .toBe(0);
    const before = frames;
    expect(before).toBeGreaterThan(0);
    for (const width of [1300, 1100, 900, 1100, 1400]) {
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate(() => new Promise(requestAnimationFrame));
      const overflow = await stream.evaluate(node => node.scrollWidth - node.clientWidth);
      expect(overflow).toBeLessThanOrEqual(1);
    }
    await page.waitForTimeout(1000);
    expect(frames - before).toBe(0);
  });

  await test.step('a table changes its cells, which Bokeh alone draws when rows come', async () => {
    await lab.command('dask-diag-lab:open-plot', { plot: 'workers' });
    const pane = await lab.livePane('workers');
    const rows = pane.locator('.slick-row');
    await expect(rows).toHaveCount(2 * 2); // each is in two parts: its name stays when it scrolls
    const processing = async (): Promise<number> => {
      const heads = await pane.locator('.slick-column-name').allInnerTexts();
      const at = heads.indexOf('Processing');
      const cells = await pane.locator(`.slick-cell.l${at}`).allInnerTexts();
      return cells.reduce((sum, cell) => sum + Number(cell.replace(/,/g, '')), 0);
    };
    await expect.poll(processing).toBe(0);
    await notebook.run(1);
    await expect.poll(processing, { message: 'work appears in the cells' }).toBeGreaterThan(0);
    await expect(rows).toHaveCount(2 * 2);
  });

  const pane = await lab.drag('progress', 'bottom', stream);
  const plot = pane.locator('.jp-DaskDiag-plot');
  await test.step('a theme is that of the picture, too', async () => {
    const brightness = async (): Promise<number> => (await pictureOf(pane)).brightness;
    await expectToShow(pane);
    const light = await brightness();
    await lab.command('apputils:change-theme', { theme: 'JupyterLab Dark' });
    await expect.poll(brightness).toBeLessThan(Math.min(light, 110));
    await expectToShow(pane);
    await lab.command('apputils:change-theme', { theme: 'JupyterLab Light' });
    await expect.poll(brightness).toBeGreaterThan(150);
  });

  await test.step('buttons freeze and save', async () => {
    await pane.getByRole('button', { name: 'Freeze (Space)' }).click();
    await expect(pane).toHaveAttribute('data-state', 'paused');
    await pane.getByRole('button', { name: 'Follow live data (L)' }).click();
    await expect(pane).toHaveAttribute('data-state', 'live');
    for (const [item, ending, content] of [
      ['Save picture as PNG', 'png', /^.PNG/],
      ['Save picture as SVG', 'svg', /^<svg .*crunch/s],
      ['Save data as CSV', 'csv', /^prefix,.*crunch,/s]
    ] as const) {
      const download = page.waitForEvent('download');
      await pane.getByRole('button', { name: 'Save…' }).click();
      await page.getByRole('menuitem', { name: item }).click();
      expect((await download).suggestedFilename()).toBe(`progress.${ending}`);
      expect(fs.readFileSync(await (await download).path(), 'latin1')).toMatch(content);
      await expect(plot).toBeFocused();
    }
    for (const name of ['Data as a table', 'How to read this (H)']) {
      await pane.getByRole('button', { name }).click();
      await expect(pane.getByRole('dialog')).toBeFocused();
      await page.keyboard.press('Escape');
      await expect(pane.getByRole('dialog')).toHaveCount(0);
      await expect(plot).toBeFocused();
    }
    await page.keyboard.press('Space');
    await expect(pane).toHaveAttribute('data-state', 'paused');
  });

  await lab.command('dask-diag-lab:open-status-layout');
  for (const name of ['cluster-memory', 'occupancy', 'workers-transfer-bytes']) {
    await expect(lab.panes(name)).toHaveCount(1);
  }
  await expect(notebook.panel).toBeVisible();
});
