// A plot in a cell stays readable in the saved notebook: without its cluster, our extension, a network.
import * as fs from 'node:fs';

import { CLUSTER, WORK } from '../harness/ipynb';
import { expectToMove } from '../harness/picture';
import { expect, test } from '../harness/test';

const PLOT = 'application/vnd.dask-diag-lab.plot+json';
const SHOW = (name: string): string => `import dask_diag_lab\ndask_diag_lab.plot("${name}")`;

interface IOutput {
  data: Record<string, string | string[]>;
}

test('a saved notebook shows the last picture of its plots, which is written when it is another', async ({
  lab,
  page,
  server
}) => {
  const some = 'client.gather(client.map(str, range(50)))[0]';
  const cells = [CLUSTER, some, SHOW('progress'), WORK, SHOW('task-stream'), SHOW('workers')];
  const path = server.writeNotebook('kept.ipynb', cells);
  let notebook = await lab.open(path);
  for (const cell of [0, 1, 2]) {
    await notebook.run(cell);
  }
  const save = async (time: string): Promise<string> => {
    await page.clock.setFixedTime(`2026-11-26T${time}`);
    await lab.command('docmanager:save');
    await expect(page.locator('.jp-mod-dirty')).toHaveCount(0);
    return fs.readFileSync(server.path(path), 'utf8');
  };
  const progress = notebook.cell(2).locator('.jp-DaskDiag-output .jp-DaskDiag-plot');
  await expect(progress).toHaveAttribute('data-state', 'live');
  await expect(progress).toContainText('50'); // all of them are done
  const handle = await progress.elementHandle();
  const first = await save('12:00:00');
  expect(first).toContain('image/png');
  expect(await save('13:00:00')).toBe(first);
  expect(await handle?.evaluate(node => node.isConnected)).toBe(true);
  await page.goto('about:blank');
  notebook = await lab.open(path);
  const output = notebook.cell(2).locator('.jp-DaskDiag-output');
  await expect(output.locator('.jp-DaskDiag-plot')).toHaveAttribute('data-state', 'live');
  await expect(output.locator('figure')).toHaveCount(0); // drawn anew
  expect(await save('13:30:00')).toBe(first);

  await notebook.run(3);
  await notebook.run(4);
  await expectToMove(notebook.cell(4).locator('.jp-OutputArea'));
  await notebook.run(5);
  await expect(notebook.cell(5).locator('[data-state="live"]')).toBeVisible();
  const text = await save('14:00:00');
  expect(text).not.toContain(server.token);
  expect(text).not.toContain('127.0.0.1');
  const { cells: saved } = JSON.parse(text) as { cells: { outputs: IOutput[] }[] };
  const [picture = {}, table = {}] = saved.slice(4).map(cell => cell.outputs[0]?.data);
  expect(Object.keys(picture).sort()).toEqual([PLOT, 'image/png', 'text/plain']);
  expect(picture['image/png']?.length).toBeLessThan(80_001);
  expect(picture['text/plain']).toEqual([expect.stringMatching(/^Task Stream · .+ · /)]);
  expect(table['text/plain']).toEqual([expect.stringMatching(/^Workers · .+ · /)]);

  await page.goto('about:blank');
  await server.endKernels();
  const again = await lab.open(path);
  const reopened = again.cell(4).locator('.jp-DaskDiag-output');
  await expect(reopened.getByRole('img', { name: /^Task Stream · / })).toBeVisible();
  await expect(reopened.locator('figure')).toContainText('Saved with the notebook: Task Stream · ');
  await expect(reopened.locator('.jp-DaskDiag-plot')).toHaveAttribute('data-greyed', 'true');
  await again.run(0);
  await again.run(3);
  await expectToMove(again.cell(4).locator('.jp-OutputArea'));
  await expect(reopened.locator('figure')).toHaveCount(0);
});
