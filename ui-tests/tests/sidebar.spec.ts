// Plots from the sidebar: its context menu, its search, and where many of them go.
import { CLUSTER } from '../harness/ipynb';
import { expect, test } from '../harness/test';

test('a plot is reached by its context menu, by a slip of the finger, and among many', async ({
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

  // More than one tab bar can show the titles of.
  const rows = sidebar.locator('.jp-DaskDiag-plotItem:visible');
  for (let at = 0; at < 9; at += 1) {
    await rows.nth(at).click();
  }
  const narrow = await page
    .locator('.jp-DaskDiag-paneTab')
    .evaluateAll(tabs => tabs.filter(tab => tab.getBoundingClientRect().width < 90).length);
  expect(narrow).toBe(0);
});
