// What cells made the cluster do: found by itself, listed, shown in all plots, and back to the cell.
import { CLUSTER } from '../harness/ipynb';
import { expect, test } from '../harness/test';

const FIRST = `import time
def load(i):
    time.sleep(0.1)
    return i
total = client.gather(client.map(load, range(100)))`;
const SECOND = `def clean(i):
    time.sleep(0.02)
    return i
done = client.gather(client.map(clean, range(40)))`;
const LONG = Array.from({ length: 60 }, (_, line) => `# line ${line}`).join('\n');

test('cells are runs: one is shown in all panes, leads to its cell, and is in the status bar', async ({
  lab,
  page,
  server
}) => {
  await page.setViewportSize({ width: 1600, height: 1000 });
  const cells = [CLUSTER, FIRST, LONG, SECOND];
  const notebook = await lab.open(server.writeNotebook('runs.ipynb', cells));
  await notebook.run(0);
  const sidebar = await lab.sidebar();
  const stream = await lab.drag('task-stream', 'right');
  await lab.drag('budget', 'bottom', stream);
  await notebook.run(1);
  const runs = sidebar.locator('.jp-DaskDiag-runs li');
  await expect(runs.filter({ hasText: 'client.map(load' })).toContainText('100 tasks');
  const line = page.locator('.jp-DaskDiag-status').getByText(/^cell \[2\]: .* idle/);
  await expect(line).toBeVisible();
  await notebook.run(3);
  await expect(runs.first()).toContainText('client.map(clean');
  await expect(runs).toHaveCount(2);

  await runs.filter({ hasText: 'load' }).getByRole('button').click();
  const pills = lab.panes().locator('.jp-DaskDiag-pill');
  await expect(pills.filter({ hasText: 'client.map(load' })).toHaveCount(2);
  await expect(lab.panes('budget')).toContainText('load');
  await expect(lab.panes('budget')).not.toContainText('clean');

  await runs.filter({ hasText: 'load' }).click({ button: 'right' });
  await page.getByRole('menuitem', { name: 'Show its cell' }).click();
  const cell = notebook.panel.locator('.jp-Cell.jp-DaskDiag-flash');
  await expect(cell).toContainText('load');
  await expect(cell).toBeInViewport();

  await sidebar.locator('.jp-DaskDiag-runs').getByRole('button', { name: 'Live' }).click();
  await expect(pills.filter({ hasText: 'client.map' })).toHaveCount(0);
  await line.click();
  await expect(pills.filter({ hasText: 'client.map(load' })).toHaveCount(2);

  await runs
    .filter({ hasText: 'clean' })
    .getByRole('button')
    .click({ modifiers: ['Control'] });
  const compared = await lab.livePane('compare');
  await expect(compared).toContainText('[2] total');
  await expect(compared).toContainText('[3] done');
  await expect(lab.panes('task-stream')).toHaveCount(3);
  await expect(pills.filter({ hasText: 'client.map' })).toHaveCount(0);
  const { height } = (await compared.boundingBox())!;
  expect(height).toBeGreaterThan(180);
});
