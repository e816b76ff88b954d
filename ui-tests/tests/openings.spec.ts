// A click in a picture opens another plot beside it, which remembers what it shows.
import { CLUSTER, WORK } from '../harness/ipynb';
import { expectToShow } from '../harness/picture';
import { expect, test } from '../harness/test';

test('a click on a rectangle of the task stream opens the profile of its prefix, with fields', async ({
  lab,
  page,
  server
}) => {
  const other = 'others = client.map(lambda i: time.sleep(0.05), range(200), pure=False)';
  const notebook = await lab.open(server.writeNotebook('open.ipynb', [CLUSTER, WORK, other]));
  await notebook.run(0);
  const stream = await lab.drag('task-stream', 'right');
  await notebook.run(1);
  await expectToShow(stream);
  const profile = lab.panes('profile');
  const box = await stream.boundingBox();
  // Rows are nearly full of tasks; a click that meets a gap opens nothing.
  for (let across = 0.4; across < 0.8 && (await profile.count()) === 0; across += 0.03) {
    await stream.click({
      position: { x: (box?.width ?? 0) * across, y: (box?.height ?? 0) * 0.17 }
    });
    await profile.waitFor({ timeout: 1_500 }).catch(() => undefined);
  }
  await expect(profile).toHaveCount(1);
  await expect(profile).toHaveAttribute('data-state', 'live');
  const tab = page.locator('.lm-DockPanel-tabBar .lm-TabBar-tab', { hasText: 'Profile: crunch' });
  await expect(tab).toHaveCount(1);
  await expect(profile.getByRole('button', { name: /^Task page of crunch-/ })).toBeVisible();
  // The stream is where it was, under the pointer.
  expect(await stream.boundingBox()).toEqual(box);

  // What is open shows something else in place, and goes on with it after a reload.
  const show = { plot: 'profile', arguments: { prefix: 'lambda' } };
  await lab.command('dask-diag-lab:open-plot', show);
  await expect(profile).toHaveCount(1);
  const now = page.locator('.lm-DockPanel-tabBar .lm-TabBar-tab', { hasText: 'Profile: lambda' });
  await expect(now).toHaveCount(1);
  await lab.saved('"prefix": "lambda"');
  await page.goto(`${server.url}lab`);
  await lab.restored();
  await expect(profile).toHaveAttribute('data-state', 'live');
  await expect(now).toHaveCount(1);

  // What is typed into a field of a plot is no key of its pane.
  const pane = await lab.livePane('profile');
  const field = pane.locator('input[type="text"]').first();
  await field.click();
  await page.keyboard.type('was/?f l');
  await expect(field).toHaveValue('was/?f l');
  await expect(pane.locator('[role="dialog"]')).toHaveCount(0);
  await expect(pane).toHaveAttribute('data-state', 'live');
  // Esc leads out of the field, and there the keys are the pane's again.
  await page.keyboard.press('Escape');
  await page.keyboard.press('h');
  await expect(pane.getByRole('dialog')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(pane.locator('[role="dialog"]')).toHaveCount(0);
});

test('what is asked for in pictures shares one pane, and a button leads back', async ({
  lab,
  server
}) => {
  const notebook = await lab.open(server.writeNotebook('drill.ipynb', [CLUSTER, WORK]));
  await notebook.run(0);
  await notebook.run(1);
  await lab.sidebar();
  await lab.command('dask-diag-lab:open-layout');
  await lab.livePane('graph');
  const boxes = async (): Promise<unknown[]> => {
    const found = lab.panes().filter({ visible: true });
    return found.evaluateAll(all =>
      all.map(one => JSON.stringify(one.getBoundingClientRect())).sort()
    );
  };
  const before = await boxes();

  const memory = await lab.livePane('workers-memory');
  const { width = 0 } = (await memory.boundingBox()) ?? {};
  await memory.click({ position: { x: width / 2, y: 100 } });
  const worker = await lab.livePane('worker');
  await worker
    .locator('.slick-cell')
    .filter({ hasText: /^crunch-/ })
    .first()
    .click();
  await expect(lab.panes('worker')).toHaveCount(0);
  const back = (await lab.livePane('task')).getByRole('button', { name: 'Back to the plot' });
  expect(await boxes()).toEqual(before);
  await back.click();
  await lab.livePane('worker');
  await expect(lab.panes('task')).toHaveCount(0);
  expect(await boxes()).toEqual(before);
});
