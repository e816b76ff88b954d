// Takes a picture of every plot, light and dark, from a real run: `make pictures`.
import { ChildProcess, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { createInterface } from 'node:readline';

import { Page } from '@playwright/test';

import { expect, test } from '../harness/test';

const ROOT = path.resolve(__dirname, '..', '..');
const IMAGES = path.join(ROOT, 'docs', 'images', 'plots');
/** Into the third round of the work: a worker has died, tasks have failed, data was spilled. */
const INTO_THE_RUN_MS = 45_000;
/** A second heartbeat and the answers to what the plot asked the cluster. */
const SETTLED_MS = 4_000;

interface IWhere {
  readonly url: string;
  readonly token: string;
  readonly arguments: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

let cluster: ChildProcess;
let where: IWhere;

test.beforeAll(async () => {
  const python = process.env.PYTHON || path.join(ROOT, '.venv', 'bin', 'python');
  const program = path.join(__dirname, 'programs', 'busy_cluster.py');
  cluster = spawn(python, [program], { stdio: ['pipe', 'pipe', 'ignore'] });
  const lines = createInterface({ input: cluster.stdout! });
  where = await new Promise<IWhere>((resolve, reject) => {
    lines.once('line', line => resolve(JSON.parse(line) as IWhere));
    cluster.once('exit', code => reject(new Error(`the cluster ended with ${code}`)));
  });
});

test.afterAll(() => {
  cluster.stdin?.end();
});

test('every plot, light and dark', async ({ browser }) => {
  test.setTimeout(900_000);
  fs.mkdirSync(IMAGES, { recursive: true });
  const pages = await Promise.all(
    (['light', 'dark'] as const).map(async colorScheme => {
      const viewport = { width: 860, height: 420 };
      const context = await browser.newContext({ colorScheme, viewport });
      const page = await context.newPage();
      await page.goto(`${where.url}/plots/task-stream?token=${where.token}`);
      return page;
    })
  );
  await pages[0]!.waitForTimeout(INTO_THE_RUN_MS);
  const reply = await pages[0]!.request.get(`${where.url}/plots.json`, {
    headers: { Authorization: `token ${where.token}` }
  });
  const { plots } = (await reply.json()) as { plots: { name: string }[] };
  expect(plots.length).toBeGreaterThan(30);
  for (const { name } of plots) {
    await Promise.all([
      take(pages[0]!, name, `${name}.png`),
      take(pages[1]!, name, `${name}-dark.png`)
    ]);
  }
});

async function take(page: Page, name: string, file: string): Promise<void> {
  const query = new URLSearchParams(where.arguments[name]);
  await page.goto(`${where.url}/plots/${name}?${query}`);
  await page.locator('body > header').evaluate(header => header.remove());
  await expect(page.locator('.jp-DaskDiag-canvas > *').first()).toBeAttached();
  await page.waitForTimeout(SETTLED_MS);
  await page.screenshot({ path: path.join(IMAGES, file) });
}
