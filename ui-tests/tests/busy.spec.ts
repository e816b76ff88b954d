// The kernel is busy: discovery and plots must not notice.
import * as fs from 'node:fs';

import { CLOSE, CLUSTER, WORK } from '../harness/ipynb';
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
/** It is a matter of two seconds where the machine has nothing else to do. */
const PATIENCE_MS = 10_000;

/** Tasks done, as the cluster's own dashboard counts them, asked through the relay. */
async function tasksDone(lab: Lab): Promise<number> {
  const id = await lab.panes().first().getAttribute('data-dashboard');
  const reply = await lab.server.api(`dask-diag-lab/dashboards/${id}/health`);
  const health = (await reply.json()) as { tasks: { done: number } };
  return health.tasks.done;
}

test('plots go on while a cell is busy', async ({ lab, server }) => {
  const ends = Object.keys(BUSY).map((_, at) => server.path(`end-${at}`));
  const cells = Object.values(BUSY).map((code, at) => code(ends[at] ?? ''));
  const path = server.writeNotebook('busy.ipynb', [CLUSTER, `import pathlib\n${WORK}`, ...cells]);
  const notebook = await lab.open(path);
  await notebook.run(0);
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
      await Promise.all(panes.map(pane => expectPictures(pane, PICTURES, PATIENCE_MS)));
      expect(await tasksDone(lab)).toBeGreaterThan(before);
      // All of this was while the cell ran.
      await notebook.expectBusy(2 + at);
      await expect(stream).toHaveAttribute('data-state', 'live');
      fs.writeFileSync(ends[at] ?? '', '');
      await notebook.ended(2 + at);
    });
  }
});

test('a new Client() is in the sidebar within 2 s', async ({ lab, server }) => {
  const end = server.path('end-of-client');
  const stamps = [server.path('connected-0'), server.path('connected-1')];
  const connect = (stamp: string): string => `import pathlib, time
${CLUSTER}
pathlib.Path(${JSON.stringify(stamp)}).write_text(str(time.time()))`;
  const [first, second] = stamps.map(connect);
  const cells = [`${first}`, CLOSE, `${second}\n${BUSY['sleeps']?.(end)}`];
  const notebook = await lab.open(server.writeNotebook('new.ipynb', cells));
  await lab.sidebar();

  const delayOf = async (cell: number, stamp: string): Promise<number> => {
    // Those of a cluster that closed stay.
    const before = await lab.items.evaluateAll(all =>
      all.map(item => item.getAttribute('data-dashboard'))
    );
    await notebook.start(cell);
    // The page's own clock, at the frame in which the entry is there.
    const seen = await lab.page.waitForFunction(
      closed => {
        const items = document.querySelectorAll('#dask-diag-lab-sidebar .jp-DaskDiag-plotItem');
        const ids = [...items].map(item => item.getAttribute('data-dashboard'));
        const isNew = ids.some(id => !closed.includes(id));
        return isNew ? Date.now() : 0;
      },
      before,
      { polling: 'raf', timeout: 45_000 }
    );
    // The entry may come before Client() returns: the kernel announces it on connection.
    await expect.poll(() => fs.existsSync(stamp)).toBe(true);
    return (await seen.jsonValue()) / 1000 - Number(fs.readFileSync(stamp, 'utf8'));
  };
  expect(await delayOf(0, stamps[0] ?? '')).toBeLessThan(2);
  await notebook.ended(0);
  await notebook.run(1);
  // And while its cell goes on.
  expect(await delayOf(2, stamps[1] ?? '')).toBeLessThan(2);
  await notebook.expectBusy(2);
  fs.writeFileSync(end, '');
  await notebook.ended(2);
});
