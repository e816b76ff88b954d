// Plots inside a notebook.
import * as fs from 'node:fs';

import { CLUSTER, WORK } from '../harness/ipynb';
import { expectToMove } from '../harness/picture';
import { expect, test } from '../harness/test';

test('a plot in a cell is live and shows what is chosen; one that is dropped runs after what runs', async ({
  lab,
  server
}) => {
  const end = server.path('end-of-cell');
  const busy = `import pathlib, time
while not pathlib.Path(${JSON.stringify(end)}).exists():
    time.sleep(0.1)`;
  const written = 'import dask_diag_lab\ndask_diag_lab.plot("profile", prefix="crunch")';
  const path = server.writeNotebook('cells.ipynb', [CLUSTER, busy, WORK, written]);
  const notebook = await lab.open(path);
  await notebook.run(0);
  await notebook.run(2);
  await notebook.run(3);
  const output = notebook.cell(3).locator('.jp-DaskDiag-output');
  await expect(output.getByRole('group', { name: /^Profile: crunch, / })).toHaveCount(1);
  await expect(output.locator('.jp-DaskDiag-plot')).toHaveAttribute('data-state', 'live');
  // The view's own choice of a function says the same.
  await expect(output.locator('select').filter({ hasText: 'crunch' }).first()).toHaveValue(
    'crunch'
  );

  await lab.dropIn('task-stream', notebook.panel);
  const made = notebook.cells('dask_diag_lab.plot("task-stream")');
  await expectToMove(made.locator('.jp-OutputArea'));
  await lab.reveal('progress');
  await notebook.start(1);
  await notebook.expectBusy(1);
  await lab.dropBefore('progress', notebook.cell(1));
  await expect(notebook.cell(1)).toContainText('dask_diag_lab.plot("progress")');
  await notebook.expectBusy(1);
  fs.writeFileSync(end, '');
  await expect(notebook.cell(1).locator('.jp-DaskDiag-plot')).toHaveAttribute('data-state', 'live');
  await expect(lab.panes()).toHaveCount(0);
});
