// The buttons that a notebook shows with a client: ours, and the one of Dask's own repr.
import * as fs from 'node:fs';

import type { Locator } from '@playwright/test';

import { CLUSTER } from '../harness/ipynb';
import { expect, test } from '../harness/test';

test('the buttons of a client open its panes and pages, and so does the one in Dask’s own repr', async ({
  lab,
  page,
  server
}) => {
  // Dask draws its button only where a distribution of this name is installed in the kernel.
  const metadata = server.path('site/dask_labextension-7.0.0.dist-info');
  fs.mkdirSync(metadata, { recursive: true });
  fs.writeFileSync(
    `${metadata}/METADATA`,
    'Metadata-Version: 2.1\nName: dask-labextension\nVersion: 7.0.0\n'
  );
  const path = `import sys\nsys.path.insert(0, ${JSON.stringify(server.path('site'))})`;
  const own = 'get_ipython().display_formatter.formatters["text/html"].pop(Client)\nclient';
  const cells = [`${path}\n${CLUSTER}\nclient`, own];
  const notebook = await lab.open(server.writeNotebook('client.ipynb', cells));
  await notebook.run(0);
  await lab.sidebar();
  const id = await lab.item('task-stream').getAttribute('data-dashboard');
  const button = (cell: number, name: RegExp): Locator =>
    notebook.cell(cell).getByRole('button', { name });
  const opened = page.context().waitForEvent('page');
  await button(0, /Open status page/).click();
  const tab = await opened;
  await expect(tab).toHaveURL(`${server.url}dask-diag-lab/dashboards/${id}/status`);
  await expect(tab.locator('.jp-DaskDiag-plot[data-state="live"]').first()).toBeVisible();
  await tab.close();
  await button(0, /Launch dashboard/).click();
  await lab.livePane('task-stream');
  await expect(notebook.cell(0).getByText('Through Jupyter')).toBeVisible();
  await expect(notebook.cell(0).getByText('attach().url')).toBeHidden();
  await lab.command('dask-diag-lab:close-plots', { dashboard: id });
  await expect(lab.panes()).toHaveCount(0);

  await notebook.run(1);
  await lab.command('dask-diag-lab:open-plot', { plot: 'cpu' });
  await lab.livePane('cpu');
  await button(1, /Launch dashboard in JupyterLab/).click();
  for (const plot of ['task-stream', 'progress', 'workers-memory', 'graph']) {
    await lab.livePane(plot);
  }
  await expect(lab.panes()).toHaveCount(5);
  await expect(notebook.panel).toBeVisible();
});
