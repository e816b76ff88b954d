// The tabs of many panes in one bar, which is scrolled.
import type { Locator } from '@playwright/test';

import { CLUSTER } from '../harness/ipynb';
import { expect, test } from '../harness/test';

const PLOTS = [
  'task-stream',
  'progress',
  'graph',
  'cpu',
  'occupancy',
  'nprocessing',
  'events'
].concat(['workers-memory', 'cluster-memory', 'exceptions', 'groups', 'profile']);

async function middle(tab: Locator): Promise<{ x: number; y: number }> {
  const box = await tab.boundingBox();
  return { x: (box?.x ?? 0) + (box?.width ?? 0) / 2, y: (box?.y ?? 0) + (box?.height ?? 0) / 2 };
}

test('a tab that is dragged in a scrolled bar lands where it was dropped', async ({
  lab,
  page,
  server
}) => {
  await page.setViewportSize({ width: 1000, height: 440 });
  const notebook = await lab.open(server.writeNotebook('tabs.ipynb', [CLUSTER]));
  await notebook.run(0);
  await lab.command('dask-diag-lab:open-plot', { plot: 'task-stream' });
  await lab.livePane('task-stream');
  for (const plot of PLOTS) {
    await lab.command('dask-diag-lab:open-plot', { plot });
  }
  const tabs = page.locator('.jp-DaskDiag-paneTab');
  await expect(tabs).toHaveCount(PLOTS.length);
  const bar = page.locator('.lm-TabBar-content', { has: tabs });
  await expect(bar).toHaveCount(1);
  const scrolled = (): Promise<number> => bar.evaluate(node => node.scrollLeft);
  await expect.poll(scrolled).toBeGreaterThan(100);
  const before = await bar.locator('.lm-TabBar-tabLabel').allInnerTexts();
  const last = before.length - 1;

  const { mouse } = page;
  const [from, to] = [await middle(tabs.nth(last)), await middle(tabs.nth(last - 2))];
  await mouse.move(from.x, from.y);
  await mouse.down();
  await mouse.move(to.x, to.y, { steps: 12 });
  // What is dragged is under the pointer.
  const box = await tabs.nth(last).boundingBox();
  expect(Math.abs((box?.x ?? 0) + (box?.width ?? 0) / 2 - to.x)).toBeLessThan(3);
  await mouse.up();

  const after = [...before.slice(0, -3), before[last], before[last - 2], before[last - 1]];
  await expect(bar.locator('.lm-TabBar-tabLabel')).toHaveText(after as string[]);
  await expect.poll(scrolled).toBeGreaterThan(100);
  // A click still picks the tab that is under it.
  await tabs.nth(last).click();
  await expect(tabs.nth(last)).toHaveClass(/lm-mod-current/);
});
