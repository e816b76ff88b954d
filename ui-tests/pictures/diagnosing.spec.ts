// Takes the pictures of docs/diagnosing.md from the code on that page: `make pictures`.
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { createInterface } from 'node:readline';

import { expect, test } from '../harness/test';

const ROOT = path.resolve(__dirname, '..', '..');
const IMAGES = path.join(ROOT, 'docs', 'images', 'diagnosing');
/** Answers to what the plot asked the cluster. */
const SETTLED_MS = 4_000;

const STEPS: readonly (readonly [string, readonly string[]])[] = [
  ['small', ['task-stream', 'budget']],
  ['large', ['task-stream', 'profile']],
  ['fast', ['task-stream']]
];

for (const [at, [step, plots]] of STEPS.entries()) {
  test(`the step “${step}”`, async ({ page }) => {
    fs.mkdirSync(IMAGES, { recursive: true });
    await page.setViewportSize({ width: 860, height: 360 });
    const python = process.env.PYTHON || path.join(ROOT, '.venv', 'bin', 'python');
    const program = path.join(__dirname, 'programs', 'diagnosing.py');
    const cluster = spawn(python, [program, String(at + 1)], { stdio: ['pipe', 'pipe', 'ignore'] });
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({ input: cluster.stdout }).once('line', resolve);
      cluster.once('exit', code => reject(new Error(`the program ended with ${code}`)));
    });
    const { url, token, seconds } = JSON.parse(line) as Record<string, string>;
    console.log(`${step}: ${seconds} s`);
    for (const plot of plots) {
      await page.goto(`${url}/plots/${plot}?token=${token}`);
      await page.locator('body > header').evaluate(header => header.remove());
      await expect(page.locator('.jp-DaskDiag-canvas > *').first()).toBeAttached();
      await page.waitForTimeout(SETTLED_MS);
      await page.screenshot({ path: path.join(IMAGES, `${step}-${plot}.png`) });
    }
    cluster.stdin.end();
  });
}
