// Plots in a browser tab of their own, through Jupyter and at the port of the kernel.
import type { Locator, Page } from '@playwright/test';

import { CLOSE, CLUSTER, WORK } from '../harness/ipynb';
import { expectToMove } from '../harness/picture';
import { expect, test } from '../harness/test';

const URL_OF_IT = `import dask_diag_lab
print(dask_diag_lab.attach().url)`;

function plotOf(tab: Page, name: string): Locator {
  return tab.locator(`.plot[data-plot="${name}"] .jp-DaskDiag-plot`);
}

test('a tab is as dark as Lab and goes on with the next cluster, one at the port keeps its picture', async ({
  lab,
  page,
  server
}) => {
  const notebook = await lab.open(
    server.writeNotebook('tab.ipynb', [CLUSTER, CLOSE, CLUSTER, URL_OF_IT, WORK])
  );
  await notebook.run(0);
  await lab.sidebar();
  const id = await lab.item('task-stream').getAttribute('data-dashboard');
  const tab = await page.context().newPage();
  const learnt = tab.waitForResponse(answer => answer.url().endsWith('/api/dashboards'));
  const root = `${server.url}dask-diag-lab/dashboards/${id}/`;
  await tab.goto(`${root}plots/profile?prefix=crunch&token=${server.token}`);
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

  await page.bringToFront();
  await notebook.run(3);
  const port = await page.context().newPage();
  const text = await notebook.cell(3).innerText();
  await port.goto(/http:\S+/.exec(text)?.[0] ?? 'no address was printed');
  const stream = plotOf(port, 'task-stream');
  await expect(stream).toHaveAttribute('data-state', 'live');
  await page.bringToFront();
  await notebook.run(4);
  await port.bringToFront();
  await expectToMove(stream);

  await page.bringToFront();
  await notebook.run(1);
  await port.bringToFront();
  await expect(stream).toHaveAttribute('data-state', 'stale');
  await expect(stream.locator('.jp-DaskDiag-canvas > *')).not.toHaveCount(0);
  await port.close();
  await tab.bringToFront();
  await expect(plot).toHaveAttribute('data-state', 'stale');
  await expect(plot.locator('.jp-DaskDiag-message')).toContainText(
    /^Cluster closed at \d\d:\d\d · history kept/
  );
  await expect(tab.locator('.gone')).toContainText('goes on with that one');

  await page.bringToFront();
  await notebook.run(2);
  await tab.bringToFront();
  await expect(tab).not.toHaveURL(address => address.href.startsWith(root));
  await expect(tab).toHaveURL(/\/plots\/profile\?prefix=crunch/);
  await expect(plot).toHaveAttribute('data-state', 'live');
  await tab.close();
});
