// What was open comes back: after a page reload, and when a restarted kernel makes a new cluster.
import { CLUSTER, WORK } from '../harness/ipynb';
import { expectToMove, expectToShow } from '../harness/picture';
import { expect, test } from '../harness/test';

test('open plots are live again after a page reload, and after a kernel restart', async ({
  lab,
  server
}) => {
  const notebook = await lab.open(server.writeNotebook('reload.ipynb', [CLUSTER, WORK]));
  await notebook.run(0);
  await lab.drag('task-stream', 'right');
  await lab.drag('workers-memory', 'bottom', lab.panes('task-stream'));
  await notebook.run(1);
  await lab.saved('task-stream', 'workers-memory');

  await lab.page.goto(`${server.url}lab`);
  await lab.restored();
  await expect(lab.panes()).toHaveCount(2);
  await expectToMove(await lab.livePane('task-stream'));
  await expectToShow(await lab.livePane('workers-memory'));
  await lab.sidebar();
  await expect(lab.item('task-stream')).toBeVisible();

  // And when the kernel starts anew: the next cluster takes over what is open.
  const stream = lab.panes('task-stream');
  const before = await stream.getAttribute('data-dashboard');
  const again = await lab.notebook('reload.ipynb');
  await lab.restartKernel('reload.ipynb');
  await expect(stream).not.toHaveAttribute('data-state', 'live');
  await expect(stream).toContainText(/\w+ \w+/);

  await again.ready();
  await again.run(0);
  await expect(stream).toHaveAttribute('data-state', 'live');
  await expect(lab.panes()).toHaveCount(2);
  expect(await stream.getAttribute('data-dashboard')).not.toBe(before);
  await again.run(1);
  await expectToMove(stream);
});
