// Clusters come, go, and live beside each other.
import { CLOSE, CLUSTER, WORK } from '../harness/ipynb';
import { expectToMove, expectToShow } from '../harness/picture';
import { expect, test } from '../harness/test';

test('the same plot of two clusters is open side by side', async ({ lab, server }) => {
  const first = await lab.open(server.writeNotebook('first.ipynb', [CLUSTER, WORK]));
  await first.run(0);
  await lab.drag('task-stream', 'right');
  const second = await lab.openToo(server.writeNotebook('second.ipynb', [CLUSTER, WORK]));
  await second.run(0);
  const sidebar = await lab.sidebar();
  await expect(sidebar).toContainText('first.ipynb');
  await expect(sidebar).toContainText('second.ipynb');
  const entries = sidebar.locator('.jp-DaskDiag-plotItem[data-plot="task-stream"]');
  await expect(entries).toHaveCount(2);
  // The notebook in front is the second one: its cluster comes first, the other one is folded.
  const names = sidebar.locator('.jp-DaskDiag-clusterName');
  await expect(names).toHaveText(['second.ipynb', 'first.ipynb']);
  await expect(entries.nth(0)).toBeVisible();
  await expect(entries.nth(1)).toBeHidden();

  // The one that is open comes to the front, the other one is new.
  await (await lab.reveal('task-stream', 1)).click();
  await (await lab.reveal('task-stream', 0)).click({ button: 'right' });
  await lab.page.locator('.lm-Menu:visible').getByText('Open below', { exact: true }).click();
  const panes = lab.panes('task-stream');
  await expect(panes).toHaveCount(2);
  const ids = await panes.evaluateAll(all => all.map(one => one.getAttribute('data-dashboard')));
  expect(new Set(ids).size).toBe(2);
  await first.run(1);
  await second.run(1);
  for (const index of [0, 1]) {
    await expect(panes.nth(index)).toHaveAttribute('data-state', 'live');
    await expectToMove(panes.nth(index));
  }
});

test('plots of a closed cluster can be opened until the next one takes them over', async ({
  lab,
  server
}) => {
  const some = 'sum(client.gather(client.map(lambda i: i + 1, range(200), pure=False)))';
  const cells = [CLUSTER, some, CLOSE, CLUSTER];
  const notebook = await lab.open(server.writeNotebook('closed.ipynb', cells));
  await notebook.run(0);
  const sidebar = await lab.sidebar();
  await expect(lab.item('task-stream')).toBeVisible();
  const open = await lab.drag('progress', 'right');
  await expect(open).toHaveAttribute('data-state', 'live');
  const closed = (await open.getAttribute('data-dashboard')) ?? '';
  await notebook.run(1);
  await notebook.run(2);
  const words = /Cluster closed at \d\d:\d\d · history kept until the kernel stops/;
  await expect(sidebar.locator('section[data-state="stale"]')).toContainText(words);
  const stream = lab.panes('task-stream');
  for (const pane of [open, stream]) {
    await expect(pane).toHaveAttribute('data-state', 'stale');
    await expect(pane).toHaveAttribute('data-dashboard', closed);
    await expect(pane).toContainText(words);
    await expectToShow(pane);
    await (await lab.reveal('task-stream')).click();
  }

  await notebook.run(3);
  await expect(stream).toHaveAttribute('data-state', 'live');
  await expect(open).toHaveAttribute('data-state', 'paused'); // behind the other one
  for (const pane of [open, stream]) {
    await expect(pane).not.toHaveAttribute('data-dashboard', closed);
  }
  await expect(sidebar.locator('section')).toHaveCount(1);
  await expect(sidebar).not.toContainText(words);
});

test('each of two clusters of a notebook keeps its panes until told: when one closes, after a restart', async ({
  lab,
  page,
  server
}) => {
  const cluster = (name: string): string => CLUSTER.replace('client =', `${name} =`);
  const cells = [cluster('first'), cluster('second'), 'second.shutdown()'];
  const notebook = await lab.open(server.writeNotebook('pair.ipynb', cells));
  const [progress, cpu] = [lab.panes('progress'), lab.panes('cpu')];
  const bound = async (): Promise<(string | null)[]> =>
    Promise.all([progress, cpu].map(pane => pane.getAttribute('data-dashboard')));
  const sections = page.locator('#dask-diag-lab-sidebar section');
  await lab.sidebar();
  const makeBoth = async (): Promise<(string | null)[]> => {
    await notebook.run(0);
    await expect(sections).toHaveCount(1);
    const first = await sections.getAttribute('data-dashboard');
    await notebook.run(1);
    await expect(sections).toHaveCount(2);
    return [first, await sections.first().getAttribute('data-dashboard')];
  };
  const [first, second] = await makeBoth();
  // A cell would show the other one.
  await lab.dropIn('progress', notebook.panel, 1);
  await expect(page.locator('.Toastify')).toContainText('this plot is of another one');
  await expect(notebook.cells('dask_diag_lab')).toHaveCount(0);
  // A tag is there while both are open, and the same in every place.
  const tags = page.locator('#dask-diag-lab-sidebar .jp-DaskDiag-header .jp-DaskDiag-tag');
  await expect(tags).toHaveCount(0);
  await lab.command('dask-diag-lab:open-plot', { plot: 'cpu', dashboard: second });
  await lab.livePane('cpu');
  await expect(tags).toHaveText(['P2', 'P']);
  const own = cpu.locator('.jp-DaskDiag-head > .jp-DaskDiag-tag');
  await expect(own).toHaveText('pair.ipynb (2)');
  await notebook.start(2);
  await expect(cpu).toHaveAttribute('data-state', 'stale');
  await expect(cpu).toContainText('history kept');
  expect(await bound()).toEqual([first, second]);

  await notebook.ended(2);
  await lab.restartKernel('pair.ipynb');
  await expect(sections).toHaveCount(0);
  await notebook.ready();
  const again = await makeBoth();
  await expect.poll(bound).toEqual(again);
  await lab.livePane('cpu');

  await lab.command('dask-diag-lab:switch-cluster', { dashboard: again[0] });
  await expect.poll(bound).toEqual([again[0], again[0]]);
  await expect(cpu).toHaveAttribute('data-state', 'live');
  await expect(tags).toHaveCount(0);
  await lab.command('dask-diag-lab:close-plots', { dashboard: again[0] });
  await expect(lab.panes()).toHaveCount(0);
});
