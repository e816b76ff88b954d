// Where there is no sidebar to drag from: Notebook 7, and a notebook alone in Lab's window.
import { CLUSTER, WORK } from '../harness/ipynb';
import type { Lab } from '../harness/lab';
import type { Notebook } from '../harness/notebook';
import { expectToMove } from '../harness/picture';
import { expect, test } from '../harness/test';

async function watchWork(lab: Lab, notebook: Notebook): Promise<void> {
  await notebook.run(0);
  await notebook.run(1);
  await lab.page.keyboard.press('Escape');
  const input = lab.page.locator('.lm-CommandPalette-input');
  const entries = lab.page.locator('.lm-CommandPalette-item', { hasText: /task stream/i });
  await expect(async () => {
    // Notebook 7 may take a key for a cell's that is still being left, and the palette goes when
    // a cell that has just run takes the focus back.
    await lab.page.keyboard.press('ControlOrMeta+Shift+C');
    await input.fill('task stream', { timeout: 3_000 });
    await entries.first().click({ timeout: 3_000 });
  }).toPass();
  await expectToMove(await lab.livePane('task-stream'));
}

test(
  'Notebook 7 opens a plot from the command palette',
  { tag: '@compat:notebook-7' },
  async ({ lab, server }) => {
    const path = server.writeNotebook('seven.ipynb', [CLUSTER, WORK]);
    await watchWork(lab, await lab.openAlone(`notebooks/${path}`, path));
  }
);

test(
  'Lab with a single document opens a plot from the command palette',
  { tag: '@compat:single-document' },
  async ({ lab, server }) => {
    const path = server.writeNotebook('single.ipynb', [CLUSTER, WORK]);
    await watchWork(lab, await lab.openAlone(`doc/tree/${path}`, path));
  }
);
