// A recording is opened from the file browser, with no cluster and no kernel, and closed again.
import * as fs from 'node:fs';

import { CLUSTER } from '../harness/ipynb';
import { expect, test } from '../harness/test';

const RECORD = `import dask_diag_lab
with dask_diag_lab.run("etl") as run:
    client.gather(client.map(lambda x: x + 1, range(20)))
run.save("etl.daskrun")
with dask_diag_lab.run("twice") as run:
    client.gather(client.map(lambda x: x + 1, range(40)))
run.save("twice.daskrun")`;

test('a double click opens the plots of a recording, and says what is wrong with another file', async ({
  lab,
  page,
  server
}) => {
  const notebook = await lab.open(server.writeNotebook('record.ipynb', [CLUSTER, RECORD]));
  await notebook.run(0);
  await notebook.run(1);
  await expect.poll(() => fs.existsSync(server.path('twice.daskrun'))).toBe(true);
  await server.endKernels();
  fs.writeFileSync(server.path('text.daskrun'), 'no recording');

  await page.goto(`${server.url}lab?reset`);
  await lab.restored();
  const file = (name: string) => page.locator('.jp-DirListing-item', { hasText: name });
  await file('etl.daskrun').dblclick();
  const stream = lab.panes('task-stream');
  await expect(stream).toContainText('Recording until 20');
  await expect(stream).toContainText('etl · All panes');
  await expect(stream.locator('[data-greyed]')).toHaveAttribute('data-greyed', 'false');
  await expect(lab.panes()).toHaveCount(4);
  await expect(page.locator('.jp-Document')).toHaveCount(0);

  const entry = (await lab.sidebar()).locator('section', { hasText: 'etl.daskrun' });
  const close = async (section: typeof entry) => {
    await section.getByRole('button', { name: 'Actions of this cluster' }).click();
    const menu = page.locator('.lm-Menu:visible');
    await menu.getByText('Close the recording', { exact: true }).click();
  };
  await close(entry);
  await expect(entry).toHaveCount(0);
  await expect(lab.panes()).toHaveCount(0);

  await page.locator('.jp-SideBar [data-id="filebrowser"]').click();
  await file('text.daskrun').dblclick();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('text.daskrun cannot be opened');
  await expect(dialog).toContainText('is no recording of dask_diag_lab');
  await dialog.getByRole('button').last().click();
  await file('etl.daskrun').dblclick();
  await expect(stream).toContainText('Recording until 20');
  await expect(lab.panes()).toHaveCount(4);

  // Another one is opened in front of it, each plot where that of the first is.
  const places = () =>
    page.locator('.jp-DaskDiag-pane:visible').evaluateAll(all =>
      all.map(one => {
        const { x, y } = one.getBoundingClientRect();
        return `${(one as HTMLElement).dataset['plot']} at ${x}, ${y}`;
      })
    );
  const first = (await places()).sort();
  await file('twice.daskrun').dblclick();
  await expect(lab.panes().and(page.locator('.lm-mod-hidden'))).toHaveCount(4);
  expect((await places()).sort()).toEqual(first);
  await expect(stream.first()).toBeHidden();

  // A run of it is compared with one of the other.
  await lab.sidebar();
  const second = lab.page.locator('#dask-diag-lab-sidebar section', { hasText: 'twice.daskrun' });
  const run = (section: typeof entry, name: string) =>
    section.locator('.jp-DaskDiag-runs').getByRole('button', { name });
  await entry.locator('.jp-DaskDiag-fold').click(); // folded as another one was opened
  await run(entry, 'etl').click();
  await run(second, 'twice').click({ modifiers: ['Control'] });
  const compared = lab.panes('compare');
  await expect(compared).toContainText('etl · etl.daskrun');
  await expect(compared).toContainText('twice');
  await expect(lab.panes('task-stream')).toHaveCount(4);
  for (const one of [run(entry, 'etl'), run(second, 'twice')]) {
    await expect(one).toHaveAttribute('aria-pressed', 'true');
  }
  // Closing one of them leaves the other as it was.
  await close(second);
  await expect(second).toHaveCount(0);
  await expect.poll(places).toEqual(expect.arrayContaining(first));
  await close(entry);
  await expect(lab.panes()).toHaveCount(0);
});
