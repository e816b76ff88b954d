// Plots look like the Lab they are in, at any size.
import { CLUSTER, WORK } from '../harness/ipynb';
import { expectToShow, pictureOf } from '../harness/picture';
import { expect, test } from '../harness/test';

test('plots follow a change of theme and of size at once', async ({ lab, server }) => {
  const notebook = await lab.open(server.writeNotebook('look.ipynb', [CLUSTER, WORK]));
  await notebook.run(0);
  const memory = await lab.drag('workers-memory', 'right');
  await notebook.run(1);
  await expectToShow(memory);
  const light = (await pictureOf(memory)).brightness;
  const background = await memory.evaluate(node => getComputedStyle(node).backgroundColor);

  await lab.command('apputils:change-theme', { theme: 'JupyterLab Dark' });
  await expect
    .poll(async () => (await pictureOf(memory)).brightness, { message: 'the picture is dark' })
    .toBeLessThan(Math.min(light, 110));
  await expectToShow(memory);
  expect(await memory.evaluate(node => getComputedStyle(node).backgroundColor)).not.toBe(
    background
  );

  await lab.command('apputils:change-theme', { theme: 'JupyterLab Light' });
  await expect
    .poll(async () => (await pictureOf(memory)).brightness, { message: 'the picture is light' })
    .toBeGreaterThan(150);

  // Drawn again at the size of its pane.
  const stream = await lab.drag('task-stream', 'bottom', memory);
  await expectToShow(stream);
  const wide = await stream.boundingBox();
  await lab.page.setViewportSize({ width: 900, height: 600 });
  await expect
    .poll(async () => (await stream.boundingBox())?.width ?? 0)
    .toBeLessThan((wide?.width ?? 0) * 0.8);
  await expectToShow(stream);
  const overflow = await stream.evaluate(node => node.scrollWidth - node.clientWidth);
  expect(overflow).toBeLessThanOrEqual(1);
});
