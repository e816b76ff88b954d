// The buttons that a notebook shows with a client: ours, and the one of Dask's own repr.
import * as fs from 'node:fs';

import type { Locator } from '@playwright/test';

import { CLUSTER } from '../harness/ipynb';
import { expect, test } from '../harness/test';

test('the buttons of a client open its panes, and its status page through Jupyter', async ({
  lab,
  page,
  server
}) => {
  const notebook = await lab.open(server.writeNotebook('client.ipynb', [`${CLUSTER}\nclient`]));
  await notebook.run(0);
  await lab.sidebar();
  const id = await lab.item('task-stream').getAttribute('data-dashboard');
  const button = (name: RegExp): Locator => notebook.cell(0).getByRole('button', { name });
  const opened = page.context().waitForEvent('page');
  await button(/Open status page/).click();
  const tab = await opened;
  await expect(tab).toHaveURL(`${server.url}dask-diag-lab/dashboards/${id}/status`);
  await expect(tab.locator('.jp-DaskDiag-plot[data-state="live"]').first()).toBeVisible();
  await tab.close();
  await button(/Launch dashboard/).click();
  await lab.livePane('task-stream');
  await expect(notebook.cell(0).getByText('Through Jupyter')).toBeVisible();
  await expect(notebook.cell(0).getByText('attach().url')).toBeHidden();
});

test('the button in Dask’s own repr opens the default layout at the first press', async ({
  lab,
  server
}) => {
  // Dask draws the button only where a distribution of this name is installed in the kernel.
  const metadata = server.path('site/dask_labextension-7.0.0.dist-info');
  fs.mkdirSync(metadata, { recursive: true });
  fs.writeFileSync(
    `${metadata}/METADATA`,
    'Metadata-Version: 2.1\nName: dask-labextension\nVersion: 7.0.0\n'
  );
  const path = `import sys\nsys.path.insert(0, ${JSON.stringify(server.path('site'))})`;
  const own = 'get_ipython().display_formatter.formatters["text/html"].pop(Client)';
  const cells = [path, `${CLUSTER}\n${own}\nclient`];
  const notebook = await lab.open(server.writeNotebook('repr.ipynb', cells));
  await notebook.run(0);
  await notebook.run(1);
  await lab.command('dask-diag-lab:open-plot', { plot: 'cpu' });
  await lab.livePane('cpu');
  const button = notebook.cell(1).getByRole('button', { name: /Launch dashboard in JupyterLab/ });
  await button.click();
  for (const plot of ['task-stream', 'progress', 'workers-memory', 'graph']) {
    await lab.livePane(plot);
  }
  await expect(lab.panes()).toHaveCount(5);
  await expect(notebook.panel).toBeVisible();
});
