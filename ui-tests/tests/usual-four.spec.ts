// The usual four among many panes, whose tabs tell of which cluster they are.
import { CLUSTER } from '../harness/ipynb';
import { expect, test } from '../harness/test';

const FOUR = ['task-stream', 'workers-memory', 'progress', 'graph'];

/** Less is no place for a plot (px). */
const LEAST_PX = 200;

test('the usual four are side by side, and those of another cluster in front of them, by whose tags tabs tell', async ({
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

  // Live ones: the browser itself reports a websocket that a closing cluster does not open.
  const visible = '.jp-DaskDiag-pane[data-state="live"]:visible';
  const [first, second] = ids.map(id => page.locator(`${visible}[data-dashboard="${id}"]`));
  await lab.command('dask-diag-lab:open-layout', { dashboard: ids[0] });
  await expect(first!).toHaveCount(4);
  // Also where they are narrow, controls are in reach beside the toolbar, and in view.
  await page.setViewportSize({ width: 1280, height: 720 });
  const progress = lab.panes('progress').filter({ visible: true });
  await progress.hover();
  await progress.getByRole('button', { name: 'Freeze (Space)' }).click();
  await progress.getByRole('button', { name: 'Controls' }).click();
  const beyond = await progress.evaluate(pane => {
    const { right } = pane.getBoundingClientRect();
    const inside = [...pane.querySelectorAll('.jp-DaskDiag-head > *, .jp-DaskDiag-controls > *')];
    return inside
      .filter(one => one.getBoundingClientRect().right > right)
      .map(one => one.textContent);
  });
  expect(beyond).toEqual([]);
  await progress.getByRole('button', { name: 'Follow live data (L)' }).click();
  await page.setViewportSize({ width: 1600, height: 1000 });
  // Those of the other come in front of them.
  await lab.command('dask-diag-lab:open-layout', { dashboard: ids[1] });
  await expect(second!).toHaveCount(4);
  await expect(first!).toHaveCount(0);
  await lab.command('dask-diag-lab:open-status-layout', { dashboard: ids[1] });
  await expect(notebook.panel).toBeVisible();
  const panes = page.locator(visible);
  const widths = await panes.evaluateAll(all => all.map(one => one.clientWidth));
  expect(Math.min(...widths)).toBeGreaterThan(LEAST_PX);

  // The history of the one that closed stays beside the other.
  const n = await tags.count();
  await notebook.run(2);
  await expect(sidebar.getByText(/closed/i).first()).toBeVisible();
  await expect(tags).toHaveCount(n);
});
