// Plots from the sidebar: its context menu, its search, the language of Lab.
import { CLUSTER } from '../harness/ipynb';
import { expect, test } from '../harness/test';

test('a plot is reached by its context menu, and by a slip of the finger', async ({
  lab,
  page,
  server
}) => {
  test.setTimeout(240_000);
  const notebook = await lab.open(server.writeNotebook('menu.ipynb', [CLUSTER]));
  const sidebar = await lab.sidebar();
  // The pane comes before the cluster does, and takes it.
  await lab.command('dask-diag-lab:open-plot', { plot: 'progress' });
  await expect(lab.panes('progress')).toContainText('menu.ipynb');
  await notebook.run(0);
  await lab.livePane('progress');

  // With the pointer, and where it was asked to go: below what is in front, the notebook.
  await lab.item('task-stream').click({ button: 'right' });
  const menu = page.locator('.lm-Menu:visible');
  await menu.getByText('Open below', { exact: true }).click();
  const stream = await lab.livePane('task-stream');
  const [above, below] = [await notebook.panel.boundingBox(), await stream.boundingBox()];
  expect(below?.y ?? 0).toBeGreaterThanOrEqual((above?.y ?? 0) + (above?.height ?? 0));

  // By the keyboard, on a row and on a picture.
  // Without a choice the focus is where it was.
  for (const element of [
    lab.item('graph').locator('.jp-DaskDiag-plotButton'),
    stream.locator('.jp-DaskDiag-plot')
  ]) {
    await element.focus();
    await page.keyboard.press('Shift+F10');
    await expect(menu).toContainText('Show as a table');
    await page.keyboard.press('Escape');
    await expect(menu).toHaveCount(0);
    await expect(element).toBeFocused();
  }
  await page.keyboard.press('Shift+F10');
  await menu.getByText('Show as a table', { exact: true }).click();
  await expect(stream.getByRole('dialog')).toContainText(/row|Nothing to show/);
  // And on the tab.
  await page.locator('.jp-DaskDiag-paneTab', { hasText: 'Progress' }).click({ button: 'right' });
  await expect(menu).toContainText('Copy link');
  await page.keyboard.press('Escape');

  await sidebar.getByRole('searchbox').fill('memry');
  await expect(lab.item('workers-memory')).toBeVisible();
  await sidebar.getByRole('searchbox').fill('nothing like this');
  await sidebar.getByRole('button', { name: 'Clear the search' }).click();
  await expect(lab.item('task-stream')).toBeVisible();
});

test('what people read is in the language of Lab, also where it comes from the kernel', async ({
  lab,
  page,
  server
}) => {
  const texts = ['Task Stream', 'Why is it slow', 'Open the usual four', 'by prefix', 'Bars'];
  const catalogue = {
    '': { domain: 'dask_diag_lab', language: 'xx', plural_forms: 'nplurals=2; plural=(n != 1);' },
    ...Object.fromEntries(texts.map(text => [text, [`⟦${text}⟧`]]))
  };
  await page.route('**/lab/api/translations/*', route =>
    route.fulfill({ json: { data: { dask_diag_lab: catalogue }, message: '' } })
  );
  const notebook = await lab.open(server.writeNotebook('language.ipynb', [CLUSTER]));
  await notebook.run(0);
  const sidebar = await lab.sidebar();
  await expect(sidebar.getByText('⟦Open the usual four⟧')).toBeVisible();
  await expect(lab.item('task-stream')).toContainText('⟦Task Stream⟧');
  await expect(sidebar.locator('[data-group]').first()).toContainText('⟦Why is it slow⟧');
  await lab.command('dask-diag-lab:open-plot', { plot: 'task-stream' });
  await lab.livePane('task-stream');
  await expect(page.locator('.jp-DaskDiag-paneTab')).toHaveText('⟦Task Stream⟧');
});

test('what is typed after a command of the palette goes to what that has opened', async ({
  lab,
  page,
  server
}) => {
  const notebook = await lab.open(server.writeNotebook('palette.ipynb', [CLUSTER, '2']));
  await notebook.run(0);
  const search = page.locator('#dask-diag-lab-sidebar').getByRole('searchbox');
  const run = async (label: string): Promise<void> => {
    // In command mode letters are commands: two of these delete the cell.
    await notebook.cell(0).locator('.jp-InputPrompt').click();
    await page.keyboard.press('Control+Shift+C');
    await page.locator('.jp-ModalCommandPalette input').fill(label);
    await page.locator('.lm-CommandPalette-item', { hasText: label }).first().waitFor();
    await page.keyboard.press('Enter');
  };
  for (const label of ['Show Dask clusters and plots', 'Search plots']) {
    await run(label);
    await expect(search).toBeFocused();
    await search.fill('');
    await page.keyboard.type('ddb');
    await expect(search).toHaveValue('ddb');
    await expect(notebook.panel.locator('.jp-CodeCell')).toHaveCount(2);
  }
  await run('Task Stream');
  const stream = await lab.livePane('task-stream');
  await expect(stream.locator('.jp-DaskDiag-plot')).toBeFocused();
  await page.keyboard.type('ddb');
  await expect(notebook.panel.locator('.jp-CodeCell')).toHaveCount(2);
});
