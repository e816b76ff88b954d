// Plots from the sidebar: its context menu, its search, the language of Lab.
import { CLUSTER } from '../harness/ipynb';
import { expect, test } from '../harness/test';

test('a plot is reached by its context menu, a search and the palette, in any language', async ({
  lab,
  page,
  server
}) => {
  test.setTimeout(240_000);
  const notebook = await lab.open(server.writeNotebook('menu.ipynb', [CLUSTER, '2']));
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

  await stream.locator('.jp-DaskDiag-title').click({ button: 'right' });
  await menu.getByText('Show as a table', { exact: true }).click();
  await expect(stream.getByRole('dialog')).toContainText(/row|Nothing to show/);
  // And on the tab.
  await page.locator('.jp-DaskDiag-paneTab', { hasText: 'Progress' }).click({ button: 'right' });
  await expect(menu).toContainText('Copy link');
  await page.keyboard.press('Escape');

  await sidebar.getByRole('searchbox').fill('nothing like this');
  await expect(sidebar).toContainText('No plot matches');
  await sidebar.getByRole('searchbox').fill('');
  await expect(lab.item('task-stream')).toBeVisible();

  await test.step('what is typed after a command of the palette goes to what it opens', async () => {
    const run = async (label: string): Promise<void> => {
      // In command mode letters are commands: two of these delete the cell.
      await notebook.cell(0).locator('.jp-InputPrompt').click();
      await page.keyboard.press('Control+Shift+C');
      await page.locator('.jp-ModalCommandPalette input').fill(label);
      await page.locator('.lm-CommandPalette-item', { hasText: label }).first().waitFor();
      await page.keyboard.press('Enter');
    };
    const search = sidebar.getByRole('searchbox');
    await run('Search plots');
    await expect(search).toBeFocused();
    await page.keyboard.type('ddb');
    await expect(search).toHaveValue('ddb');
    await search.fill('');
    await run('Task Stream');
    await expect(stream.getByRole('dialog')).toBeFocused();
    await page.keyboard.press('Escape');
    await expect(stream.locator('.jp-DaskDiag-plot')).toBeFocused();
    await page.keyboard.type('ddb');
    await expect(notebook.panel.locator('.jp-CodeCell')).toHaveCount(2);
  });

  await test.step('all is in the language of Lab, also what comes from the kernel', async () => {
    const texts = ['Task Stream', 'Why is it slow', 'Open the usual four'];
    const catalogue = {
      '': { domain: 'dask_diag_lab', language: 'xx', plural_forms: 'nplurals=2; plural=(n != 1);' },
      ...Object.fromEntries(texts.map(text => [text, [`⟦${text}⟧`]]))
    };
    await page.route('**/lab/api/translations/*', route =>
      route.fulfill({ json: { data: { dask_diag_lab: catalogue }, message: '' } })
    );
    await page.goto(`${server.url}lab?reset`);
    await lab.restored();
    await lab.sidebar();
    await expect(sidebar.getByText('⟦Open the usual four⟧')).toBeVisible();
    await expect(lab.item('task-stream')).toContainText('⟦Task Stream⟧');
    await expect(sidebar.locator('[data-group]').first()).toContainText('⟦Why is it slow⟧');
    await lab.command('dask-diag-lab:open-plot', { plot: 'task-stream' });
    await expect(page.locator('.jp-DaskDiag-paneTab')).toHaveText('⟦Task Stream⟧');
  });
});
