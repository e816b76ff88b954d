// Plots inside a notebook, and in Notebook 7 where there is no Lab shell.
import { CLUSTER, WORK } from '../harness/ipynb';
import { expectToMove } from '../harness/picture';
import { expect, test } from '../harness/test';

test('a plot in a cell is live, dropped or written', async ({ lab, server }) => {
  // Long enough to lie in the middle of the page, where the plot is dropped.
  const long = `# ${'a line of a long cell\n# '.repeat(40)}`;
  const written = 'import dask_diag_lab\ndask_diag_lab.plot("profile", prefix="crunch")';
  const same = 'import dask_diag_lab\n\ndask_diag_lab.plot("task-stream")';
  const path = server.writeNotebook('drop.ipynb', [CLUSTER, WORK, written, same, long]);
  const notebook = await lab.open(path);
  await notebook.run(0);
  await notebook.run(1);
  await lab.dropIn('task-stream', notebook.panel);
  const made = notebook.panel.locator('.jp-CodeCell', { hasText: 'plot("task-stream")' });
  await expect(made).toHaveCount(2);
  // A cell of its own: the one that it was dropped on is as it was.
  const hit = notebook.panel.locator('.jp-CodeCell', { hasText: 'a line of a long cell' });
  await expect(hit).toHaveCount(1);
  await expect(hit).not.toContainText('dask_diag_lab');
  await expect(lab.panes()).toHaveCount(0);

  // The new cell runs, and not the one above it that says the same.
  await notebook.ended(4);
  await expectToMove(notebook.cell(4).locator('.jp-OutputArea'));
  await expect(notebook.cell(3).locator('.jp-OutputArea-output')).toHaveCount(0);

  // A plot in a cell shows what its arguments choose.
  await notebook.run(2);
  const output = notebook.cell(2).locator('.jp-DaskDiag-output');
  await expect(output.getByRole('group', { name: /^Profile: crunch, / })).toHaveCount(1);
  await expect(output.locator('.jp-DaskDiag-plot')).toHaveAttribute('data-state', 'live');
  // The view's own choice of a function says the same.
  await expect(output.locator('select').filter({ hasText: 'crunch' }).first()).toHaveValue(
    'crunch'
  );
});

test('Notebook 7 opens a plot from the command palette', async ({ lab, page, server }) => {
  const path = server.writeNotebook('seven.ipynb', [CLUSTER, WORK]);
  const notebook = await lab.openNotebook7(path);
  await notebook.run(0);
  await notebook.run(1);
  await page.keyboard.press('Escape');
  await page.keyboard.press('ControlOrMeta+Shift+C');
  await page.locator('.lm-CommandPalette-input').fill('task stream');
  const entry = page.locator('.lm-CommandPalette-item', { hasText: /task stream/i }).first();
  await entry.click();
  await expectToMove(await lab.livePane('task-stream'));
});
