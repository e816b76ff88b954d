// The first minute, on the demo notebook itself: a cluster appears, plots are dragged, work is seen.
import { CLUSTER, WORK } from '../harness/ipynb';
import { expectToMove, expectToShow, pictureOf } from '../harness/picture';
import { expect, test } from '../harness/test';

const STORY = 'a new user drags four plots out of the sidebar and watches the demo run';
test(STORY, { tag: '@compat:lab' }, async ({ lab, server }) => {
  test.setTimeout(360_000);
  // Its tasks sleep for a moment each, to be watched; here a third of that is enough. Its arrays spill
  // for as long as the disk wants; here they fit.
  const demo = server.copy('examples/demo.ipynb', {
    'random.random() / 4': 'random.random() / 12',
    '(10_000, 10_000)': '(3000, 3000)'
  });
  const notebook = await lab.open(demo);
  const sidebar = await lab.sidebar();
  await expect(lab.items).toHaveCount(0);

  await notebook.run(0);
  await expect(lab.item('task-stream')).toBeVisible();
  await expect(sidebar).toContainText('demo.ipynb');
  // Nothing is printed in the user's cell.
  expect(await notebook.complaints(0)).toEqual([]);
  await expect(notebook.cell(0).getByText('diag')).toHaveCount(0);

  const stream = await lab.drag('task-stream', 'right');
  const progress = await lab.drag('progress', 'bottom', stream);
  const memory = await lab.drag('workers-memory', 'bottom', notebook.panel);
  const graph = await lab.drag('graph', 'right', memory);
  await expect(lab.panes()).toHaveCount(4);
  await expect(notebook.panel).toBeVisible();

  await notebook.start(1);
  for (const pane of [stream, progress, graph, memory]) {
    await expectToMove(pane);
  }
  await notebook.expectBusy(1);
  await notebook.ended(1, 150_000);

  await notebook.run(2, 150_000);
  for (const plot of ['task-stream', 'progress', 'workers-memory', 'graph']) {
    await expectToShow(await lab.livePane(plot));
  }
});

const EACH = 'every plot of the sidebar opens with a click, and is never blank at work';
test(EACH, { tag: '@compat:every-plot' }, async ({ lab, server }) => {
  test.setTimeout(600_000);
  const notebook = await lab.open(server.writeNotebook('each.ipynb', [CLUSTER, WORK]));
  await notebook.run(0);
  await lab.sidebar();
  await expect(lab.item('task-stream')).toBeVisible();
  const names = await lab.items.evaluateAll(rows => rows.map(row => row.getAttribute('data-plot')));
  expect(names.length).toBeGreaterThan(30);
  // Before anything has run BokehJS must not stumble over empty columns.
  for (const isAtWork of [false, true]) {
    if (isAtWork) {
      await notebook.run(1);
    }
    for (const name of names as string[]) {
      await (await lab.reveal(name)).click();
      const pane = await lab.livePane(name);
      // A picture, a table, a button that measures, or words why there is none of these.
      const words = pane.locator('.jp-DaskDiag-message:not([hidden])');
      const rows = pane.locator('.slick-row, .bk-btn');
      await expect
        .poll(
          async () =>
            !isAtWork ||
            (await words.count()) + (await rows.count()) > 0 ||
            (await pictureOf(pane)).colours > 3,
          { message: `${name} is not blank` }
        )
        .toBe(true);
      await expect(words.filter({ hasText: 'could not be drawn' })).toHaveCount(0);
      // What was looked at is drawn no further: it would take the time of the next one.
      await lab.command('application:close');
      await expect(pane).toHaveCount(0);
    }
  }
});
