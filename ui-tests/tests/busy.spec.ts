// The kernel is busy: discovery and plots must not notice.
import * as fs from 'node:fs';

import { CLUSTER, WORK } from '../harness/ipynb';
import { Lab } from '../harness/lab';
import { expectPictures, expectToShow } from '../harness/picture';
import { expect, test } from '../harness/test';

/** Busy until a file is there: asleep, or in Python, which looks only now and then. */
const BUSY: Record<string, (file: string) => string> = {
  sleeps: file => `while not pathlib.Path(${JSON.stringify(file)}).exists():
    time.sleep(1)`,
  'computes in pure Python': file => `x = 0
while not pathlib.Path(${JSON.stringify(file)}).exists():
    for _ in range(3_000_000):
        x += 1`
};
/** More than the one of before and the one that was on its way. */
const PICTURES = 4;

/** Tasks done, as the cluster's own dashboard counts them, asked through the relay. */
async function tasksDone(lab: Lab): Promise<number> {
  const id = await lab.panes().first().getAttribute('data-dashboard');
  const reply = await lab.server.api(`dask-diag-lab/dashboards/${id}/health`);
  const health = (await reply.json()) as { tasks: { done: number } };
  return health.tasks.done;
}

test('a new Client() is in the sidebar, and its plots go on, while a cell is busy', async ({
  lab,
  server
}) => {
  const ends = ['client', ...Object.keys(BUSY)].map(name => server.path(`end of ${name}`));
  const [end = '', ...others] = ends;
  const cells = Object.values(BUSY).map((code, at) => code(others[at] ?? ''));
  const first = `import pathlib, time\n${CLUSTER}\n${BUSY['sleeps']?.(end)}`;
  const notebook = await lab.open(server.writeNotebook('busy.ipynb', [first, WORK, ...cells]));
  await lab.sidebar();
  await notebook.start(0);
  await expect(lab.items.first()).toBeAttached();
  await notebook.expectBusy(0);
  fs.writeFileSync(end, '');
  await notebook.ended(0);

  const stream = await lab.drag('task-stream', 'right');
  const progress = await lab.drag('progress', 'bottom', stream);
  await notebook.run(1);
  await expectToShow(stream);
  for (const [at, what] of Object.keys(BUSY).entries()) {
    await test.step(`that ${what}`, async () => {
      await notebook.start(2 + at);
      await notebook.expectBusy(2 + at);
      const before = await tasksDone(lab);
      const panes = [stream, progress];
      await Promise.all(panes.map(pane => expectPictures(pane, PICTURES)));
      expect(await tasksDone(lab)).toBeGreaterThan(before);
      // All of this was while the cell ran.
      await notebook.expectBusy(2 + at);
      await expect(stream).toHaveAttribute('data-state', 'live');
      fs.writeFileSync(others[at] ?? '', '');
      await notebook.ended(2 + at);
    });
  }
});
