// The "Launch dashboard in JupyterLab" button of Dask's own Client repr.
import * as fs from 'node:fs';

import { CLUSTER } from '../harness/ipynb';
import { expect, test } from '../harness/test';

test('the button in the Client repr opens the default layout at the first press', async ({
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
  const cells = [path, `${CLUSTER}\nclient`];
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
