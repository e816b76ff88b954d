// Plots in a browser tab of their own: what becomes of one when its cluster is replaced.
import type { Locator, Page } from '@playwright/test';

import { CLOSE, CLUSTER, WORK } from '../harness/ipynb';
import { expectToMove } from '../harness/picture';
import { expect, test } from '../harness/test';

const URL_OF_IT = `import dask_diag_lab
print(dask_diag_lab.attach().url)`;

/** Work that has ended when its cell has: Dask complains in the cell that cuts off what runs. */
const SOME = 'sum(client.gather(client.map(lambda i: i + 1, range(100), pure=False)))';

function plotOf(tab: Page, name: string): Locator {
  return tab.locator(`.plot[data-plot="${name}"]`);
}

test('a tab goes on with the next cluster of its notebook, or has a link to it', async ({
  lab,
  page,
  server
}) => {
  const notebook = await lab.open(
    server.writeNotebook('tab.ipynb', [CLUSTER, CLOSE, CLUSTER, SOME, CLOSE, CLUSTER])
  );
  await notebook.run(0);
  await lab.sidebar();
  const id = await lab.item('task-stream').getAttribute('data-dashboard');
  const tab = await page.context().newPage();
  const learnt = tab.waitForResponse(answer => answer.url().endsWith('/api/dashboards'));
  const root = `${server.url}dask-diag-lab/dashboards/${id}/`;
  await tab.goto(`${root}plots/profile?prefix=crunch&bare=1&token=${server.token}`);
  const plot = plotOf(tab, 'profile');
  await expect(plot).toHaveAttribute('data-state', 'live');
  await learnt;
  // It is as dark as Lab is, at once.
  const ground = (): Promise<string> =>
    tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await lab.command('apputils:change-theme', { theme: 'JupyterLab Dark' });
  await expect.poll(ground).not.toBe(light);
  await lab.command('apputils:change-theme', { theme: 'JupyterLab Light' });
  await expect.poll(ground).toBe(light);

  await notebook.run(1);
  await expect(tab.locator('.gone')).toContainText('goes on with that one');
  await expect(plot).toHaveAttribute('data-state', 'closed');
  await expect(plot.locator('.message')).toContainText(
    /^Cluster closed at \d\d:\d\d · history kept/
  );

  await page.bringToFront();
  await notebook.run(2);
  await tab.bringToFront();
  await expect(tab).not.toHaveURL(address => address.href.startsWith(root));
  await expect(tab).toHaveURL(/\/plots\/profile\?prefix=crunch&bare=1$/);
  await expect(plot).toHaveAttribute('data-state', 'live');
  await expect(tab.locator('.gone')).toBeHidden();

  // For a frozen picture the tab stays, and has a link.
  await page.bringToFront();
  await notebook.run(3);
  await tab.bringToFront();
  const next = /^.*\/dashboards\/[^/]+\//.exec(tab.url())?.[0] ?? '';
  const known = tab.waitForResponse(answer => answer.url().endsWith('/api/dashboards'));
  await tab.goto(`${next}plots/task-stream`);
  const stream = plotOf(tab, 'task-stream');
  await expect(stream).toHaveAttribute('data-state', 'live');
  await known;
  // The plot has the focus, and nothing without a name in it.
  await expect(stream.locator('.bk-events')).toHaveAttribute('tabindex', '-1');
  await stream.focus();
  await tab.keyboard.press('Space');
  await expect(stream.locator('.behind')).toContainText(/ahead|frozen/);

  await page.bringToFront();
  await notebook.run(4);
  await notebook.run(5);
  await tab.bringToFront();
  const link = tab.locator('.gone').getByRole('link');
  await expect(link).toBeVisible();
  expect(tab.url().startsWith(next)).toBe(true);
  await link.click();
  await expect(tab).toHaveURL(/\/plots\/task-stream$/);
  expect(tab.url().startsWith(next)).toBe(false);
  await expect(stream).toHaveAttribute('data-state', 'live');
  await tab.close();
});

test('a hidden tab hears from Lab that another cluster came or went', async ({
  lab,
  page,
  server
}) => {
  const end = `import dask_diag_lab\ndask_diag_lab.attach().close()\n${CLOSE}`; // and no history
  const cells = [CLUSTER, `first = client\n${CLUSTER}`, end];
  const notebook = await lab.open(server.writeNotebook('two.ipynb', cells));
  await notebook.run(0);
  await lab.sidebar();
  const id = await lab.item('progress').getAttribute('data-dashboard');
  const tab = await page.context().newPage();
  const learnt = tab.waitForResponse(answer => answer.url().endsWith('/api/dashboards'));
  const root = `${server.url}dask-diag-lab/dashboards/${id}/`;
  await tab.goto(`${root}plots/progress?token=${server.token}`);
  await expect(plotOf(tab, 'progress')).toHaveAttribute('data-state', 'live');
  await learnt;
  // A headless browser hides none. From now on the tab asks nothing by itself.
  await tab.evaluate(() => {
    Object.defineProperty(document, 'hidden', { get: () => true });
    document.dispatchEvent(new Event('visibilitychange'));
  });

  await page.bringToFront();
  await notebook.run(1);
  await expect(tab).toHaveTitle('1 · Progress · two.ipynb');
  await notebook.run(2);
  await expect(tab).toHaveTitle('Progress · two.ipynb');
  await tab.close();
});

test('a tab at the port of the kernel says that it cannot follow, and keeps its picture', async ({
  lab,
  page,
  server
}) => {
  const cells = [CLUSTER, URL_OF_IT, WORK, CLOSE];
  const notebook = await lab.open(server.writeNotebook('port.ipynb', cells));
  await notebook.run(0);
  await notebook.run(1);
  const text = await notebook.cell(1).innerText();
  const tab = await page.context().newPage();
  await tab.goto(/http:\S+/.exec(text)?.[0] ?? 'no address was printed');
  const plot = plotOf(tab, 'task-stream');
  await expect(plot).toHaveAttribute('data-state', 'live');
  await page.bringToFront();
  await notebook.run(2);
  await tab.bringToFront();
  await expectToMove(plot);

  await page.bringToFront();
  await notebook.start(3);
  await tab.bringToFront();
  await expect(tab.locator('.gone')).toContainText('Diagnostics.url');
  await expect(plot).toHaveAttribute('data-state', 'closed');
  await expect(plot.locator('.picture > *')).not.toHaveCount(0);
  await tab.close();
});
