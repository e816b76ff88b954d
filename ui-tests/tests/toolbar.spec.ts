// The buttons over a plot.
import * as fs from 'node:fs';

import { CLUSTER, WORK } from '../harness/ipynb';
import { expect, test } from '../harness/test';

test('a pane freezes and is saved by its buttons, and its cards give the keys back', async ({
  lab,
  page,
  server
}) => {
  const notebook = await lab.open(server.writeNotebook('toolbar.ipynb', [CLUSTER, WORK]));
  await notebook.run(0);
  await notebook.run(1);
  const pane = await lab.drag('progress', 'right');
  const plot = pane.locator('.jp-DaskDiag-plot');
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

  const buttons = pane.locator('.jp-CommandToolbarButton button');
  for (const name of ['Data as a table', 'How to read this (H)']) {
    await buttons.and(page.getByRole('button', { name })).click();
    await expect(pane.getByRole('dialog')).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(pane.getByRole('dialog')).toHaveCount(0);
    await expect(plot).toBeFocused();
  }
  await expect(buttons.and(page.locator('[aria-pressed="true"]'))).toHaveCount(0);
  await page.keyboard.press('Space');
  await expect(pane).toHaveAttribute('data-state', 'paused');
});
