// The usual four among many panes, whose tabs tell of which cluster they are.
import { CLUSTER } from '../harness/ipynb';
import { expect, test } from '../harness/test';

const FOUR = ['task-stream', 'workers-memory', 'progress', 'graph'];

test('the usual four are seen whatever is open, and tabs wear the tag of their cluster', async ({
  lab,
  page,
  server
}) => {
  await page.setViewportSize({ width: 1600, height: 1000 });
  const cells = [CLUSTER, `older = client\n${CLUSTER}`, 'older.close()'];
  const notebook = await lab.open(server.writeNotebook('four.ipynb', cells));
  await notebook.run(0);
  await notebook.run(1);
  const sidebar = await lab.sidebar();
  const rows = page.locator('.jp-DaskDiag-plotItem[data-plot="graph"]');
  await expect(rows).toHaveCount(2);
  const ids = await rows.evaluateAll(all => all.map(one => one.getAttribute('data-dashboard')));
  for (const dashboard of ids) {
    for (const plot of FOUR) {
      await lab.command('dask-diag-lab:open-plot', { plot, dashboard });
    }
  }
  const tags = page.locator('.jp-DaskDiag-paneTab[data-tag]');
  await expect(tags).toHaveCount(8);

  for (const dashboard of ids) {
    await lab.command('dask-diag-lab:open-layout', { dashboard });
    // Live ones: the browser itself reports a websocket that a closing cluster does not open.
    const pane = `.jp-DaskDiag-pane[data-dashboard="${dashboard}"][data-state="live"]`;
    await expect(page.locator(`${pane}:visible`)).toHaveCount(4);
    await expect(notebook.panel).toBeVisible();
  }

  // The history of the one that closed stays beside the other.
  await notebook.run(2);
  await expect(sidebar.getByText(/closed/i).first()).toBeVisible();
  await expect(tags).toHaveCount(8);
});
