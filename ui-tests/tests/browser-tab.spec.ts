// Plots in a browser tab of their own: what becomes of one when its cluster is replaced.
import type { Locator, Page } from '@playwright/test';

import { CLOSE, CLUSTER, WORK } from '../harness/ipynb';
import { expectToMove } from '../harness/picture';
import { expect, test } from '../harness/test';

const URL_OF_IT = `import dask_diag_lab
print(dask_diag_lab.attach().url)`;

function plotOf(tab: Page, name: string): Locator {
  return tab.locator(`.plot[data-plot="${name}"] .jp-DaskDiag-plot`);
}

test('a tab is as dark as Lab and goes on with the next cluster of its notebook', async ({
  lab,
  page,
  server
}) => {
  const notebook = await lab.open(server.writeNotebook('tab.ipynb', [CLUSTER, CLOSE, CLUSTER]));
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
  const ground = (): Promise<string> =>
    tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await lab.command('apputils:change-theme', { theme: 'JupyterLab Dark' });
  await expect.poll(ground).not.toBe(light);
  await lab.command('apputils:change-theme', { theme: 'JupyterLab Light' });
  await expect.poll(ground).toBe(light);

  await notebook.run(1);
  await expect(plot).toHaveAttribute('data-state', 'stale');
  await expect(plot.locator('.jp-DaskDiag-message')).toContainText(
    /^Cluster closed at \d\d:\d\d · history kept/
  );
  await expect(tab.locator('.gone')).toContainText('goes on with that one');

  await page.bringToFront();
  await notebook.run(2);
  await tab.bringToFront();
  await expect(tab).not.toHaveURL(address => address.href.startsWith(root));
  await expect(tab).toHaveURL(/\/plots\/profile\?prefix=crunch&bare=1/);
  await expect(plot).toHaveAttribute('data-state', 'live');
  await tab.close();
});

test('a tab at the port of the kernel keeps its picture after the end', async ({
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
  await expect(plot).toHaveAttribute('data-state', 'stale');
  await expect(plot.locator('.jp-DaskDiag-canvas > *')).not.toHaveCount(0);
  await tab.close();
});
