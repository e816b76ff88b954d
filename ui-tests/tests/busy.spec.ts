// The kernel is busy: discovery and plots must not notice.
import * as fs from 'node:fs';

import { CLUSTER, WORK } from '../harness/ipynb';
import { Lab } from '../harness/lab';
import { countPictures, expectToShow } from '../harness/picture';
import { expect, test } from '../harness/test';

const SLEEP = 'time.sleep(20)';
const PYTHON_LOOP = `end = time.time() + 20
x = 0
while time.time() < end:
    x += 1`;
/** Of 10 s looked at twice a second. A picture that only moves when it is clicked shows 1. */
const MIN_PICTURES = 6;

/** Tasks done, as the cluster's own dashboard counts them, asked through the relay. */
async function tasksDone(lab: Lab): Promise<number> {
  const id = await lab.panes().first().getAttribute('data-dashboard');
  const reply = await lab.server.api(`dask-diag-lab/dashboards/${id}/health`);
  const health = (await reply.json()) as { tasks: { done: number } };
  return health.tasks.done;
}

for (const [what, code] of [
  ['sleeps', SLEEP],
  ['computes in pure Python', PYTHON_LOOP]
] as const) {
  test(`plots go on while a cell ${what}`, async ({ lab, server }) => {
    const notebook = await lab.open(server.writeNotebook('busy.ipynb', [CLUSTER, WORK, code]));
    await notebook.run(0);
    const stream = await lab.drag('task-stream', 'right');
    const progress = await lab.drag('progress', 'bottom', stream);
    await notebook.run(1);
    await expectToShow(stream);
    await notebook.start(2);
    await notebook.expectBusy(2);

    const before = await tasksDone(lab);
    expect(await countPictures(stream, 5)).toBeGreaterThanOrEqual(MIN_PICTURES / 2);
    expect(await countPictures(progress, 5)).toBeGreaterThanOrEqual(MIN_PICTURES / 2);
    expect(await tasksDone(lab)).toBeGreaterThan(before);
    // All of this was while the cell ran.
    await notebook.expectBusy(2);
    await expect(stream).toHaveAttribute('data-state', 'live');
    await notebook.ended(2);
  });
}

for (const [when, after] of [
  ['when the cell ends', ''],
  ['while its cell goes on sleeping', 'time.sleep(15)']
] as const) {
  test(`a new Client() is in the sidebar within 2 s, ${when}`, async ({ lab, server }) => {
    const stamp = server.path(`connected-${after.length}`);
    const cell = `import pathlib, time
${CLUSTER}
pathlib.Path(${JSON.stringify(stamp)}).write_text(str(time.time()))
${after}`;
    const notebook = await lab.open(server.writeNotebook('new.ipynb', [cell]));
    await lab.sidebar();
    await expect(lab.items).toHaveCount(0);
    await notebook.start(0);
    // The page's own clock, at the frame in which the entry is there.
    const seen = await lab.page.waitForFunction(
      () => {
        const item = document.querySelector('#dask-diag-lab-sidebar .jp-DaskDiag-plotItem');
        return item ? Date.now() : 0;
      },
      undefined,
      { polling: 'raf', timeout: 45_000 }
    );
    const shown = (await seen.jsonValue()) / 1000;
    // The entry may come before Client() returns: the kernel announces it on connection.
    await expect.poll(() => fs.existsSync(stamp)).toBe(true);
    const connected = Number(fs.readFileSync(stamp, 'utf8'));
    expect(shown - connected).toBeLessThan(2);
    if (after) {
      await notebook.expectBusy(0);
    }
  });
}
