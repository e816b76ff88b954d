// Where the usual way to a plot is closed: kernels on a gateway, and proxies without websockets.
import * as fs from 'node:fs';

import { Page } from '@playwright/test';

import { IApp } from '../harness/app';
import { IProxyOptions, reverseProxy } from '../harness/front';
import { CLUSTER, WORK } from '../harness/ipynb';
import { expectPictures, expectToShow } from '../harness/picture';
import { JupyterServer, USUAL_PLACE } from '../harness/server';
import { expect, test } from '../harness/test';

const NOTE = '.jp-DaskDiag-note';

/** Counts the messages and bytes that kernels send to the page. */
class Meter {
  constructor(private readonly _page: Page) {
    _page.on('websocket', socket => {
      if (socket.url().includes('/channels')) {
        socket.on('framereceived', ({ payload }) => {
          if (payload.includes('dask-diag-lab-')) {
            this.seen.push([Date.now(), payload.length]);
          }
        });
      }
    });
  }

  readonly seen: [time: number, bytes: number][] = [];

  /** Wait until nothing has come for 5 s. */
  async expectQuiet(): Promise<void> {
    await expect(async () => {
      const { length } = this.seen;
      await this._page.waitForTimeout(5000);
      expect(this.seen).toHaveLength(length);
    }).toPass({ timeout: 100_000 });
  }

  /** The most messages, and bytes, within any three seconds: what Jupyter servers count. */
  get most(): [messages: number, bytes: number] {
    const windows = this.seen.map(([start]) =>
      this.seen.filter(([time]) => time >= start && time < start + 3000)
    );
    const bytes = windows.map(all => all.reduce((sum, [, size]) => sum + size, 0));
    return [Math.max(...windows.map(all => all.length)), Math.max(...bytes)];
  }
}

function kernelStatus(page: Page): Promise<string | undefined> {
  return page.evaluate(() => {
    const [panel] = (window as unknown as { jupyterapp: IApp }).jupyterapp.shell.widgets('main');
    return panel?.sessionContext?.session?.kernel?.status;
  });
}

const gateway = test.extend<object, { far: JupyterServer }>({
  far: [
    async ({}, use) => {
      const far = await JupyterServer.start();
      await use(far);
      await far.stop();
    },
    { scope: 'worker', timeout: 120_000 }
  ],
  server: [
    async ({ far }, use) => {
      const config = [
        `c.GatewayClient.url = '${far.url.replace(/\/$/, '')}'`,
        `c.GatewayClient.auth_token = '${far.token}'`
      ];
      const server = await JupyterServer.start({ ...USUAL_PLACE, config });
      await use(server);
      await server.stop();
    },
    { scope: 'worker', timeout: 120_000 }
  ],
  // Jupyter Server's client of gateways chooses no protocol, so Lab opens each connection twice, and
  // then now and then nothing that the page sends is answered (docs/decisions/0008). Not ours, so
  // not tested here.
  page: async ({ page }, use) => {
    await page.addInitScript(() => {
      window.WebSocket = class extends WebSocket {
        constructor(url: string | URL, protocols?: string | string[]) {
          super(url, String(url).includes('/channels') ? [] : protocols);
        }
      };
    });
    await use(page);
  }
});

gateway('plots of a kernel on a gateway', async ({ lab, server, page }) => {
  const meter = new Meter(page);
  const [end, ended] = [server.path('end'), server.path('ended')];
  const busy = `import pathlib, time
while not pathlib.Path(${JSON.stringify(end)}).exists():
    time.sleep(0.2)
pathlib.Path(${JSON.stringify(ended)}).touch()`;
  const path = server.writeNotebook('far.ipynb', [CLUSTER, WORK, busy]);
  const notebook = await lab.open(path);
  await notebook.run(0);
  await lab.sidebar();
  const listed = await server.api('dask-diag-lab/api/dashboards');
  expect(await listed.json()).toEqual({ dashboards: [] });
  await expect(lab.items.first()).toBeAttached();

  // Nothing runs and no plot is open: nothing is sent, once it is told who is there.
  await meter.expectQuiet();

  await notebook.run(1);
  await notebook.start(2);
  await notebook.expectBusy(2);
  const stream = await lab.drag('task-stream', 'right');
  await expectToShow(stream);
  await expectPictures(stream, 4);
  await expect(stream.locator(NOTE)).toContainText('through the kernel’s messages');
  const progress = await lab.drag('progress', 'bottom', stream);
  await expectPictures(progress, 4);
  await notebook.expectBusy(2);
  expect(await kernelStatus(page)).toBe('busy'); // what the plots ask is not taken for its end

  // A page that comes later, while the cell runs on.
  await lab.saved('task-stream', 'progress');
  await page.reload();
  await lab.restored();
  await expectPictures(await lab.livePane('task-stream'), 4);
  expect(fs.existsSync(ended)).toBe(false);
  fs.writeFileSync(end, '');
  await expect.poll(() => fs.existsSync(ended)).toBe(true);

  const [messages, bytes] = meter.most;
  expect(messages).toBeLessThan(500);
  expect(bytes).toBeLessThan(2_500_000);
  const dashboard = await lab.panes().first().getAttribute('data-dashboard');
  await lab.command('dask-diag-lab:close-plots', { dashboard });
  await expect(lab.panes()).toHaveCount(0);
  // A page takes no leave; the kernel ends what nobody keeps.
  await meter.expectQuiet();
  expect(server.log).not.toContain('rate exceeded');
});

test('plots behind proxies that refuse websockets, or hold them', async ({ lab, server, page }) => {
  const path = server.writeNotebook('behind.ipynb', [CLUSTER, WORK]);
  await (await lab.open(path)).run(0);
  for (const ours of ['refuse', 'hold'] as const) {
    await test.step(ours, async () => {
      const options: IProxyOptions = { tls: false, keepsHost: true, ours };
      const proxy = await reverseProxy(new URL(server.url), options);
      const behind = lab.through(proxy.origin.replace('lab.localhost', '127.0.0.1'));
      const notebook = await behind.open(path);
      await notebook.run(1);
      await behind.sidebar();
      await expect(behind.items.first()).toBeAttached();
      const stream = await behind.drag('task-stream', 'right');
      await expectPictures(stream, 4);
      await expect(stream.locator(NOTE)).toContainText('through the kernel’s messages');
      const progress = await behind.drag('progress', 'bottom', stream);
      await expectPictures(progress, 4);
      // Websockets pass from now on: the panes change over, and none is grey meanwhile.
      await stream.evaluate(pane => {
        new MutationObserver(() => {
          if (pane.querySelector('[data-greyed="true"], [data-picture="false"]')) {
            pane.setAttribute('data-flickered', '');
          }
        }).observe(pane, { subtree: true, attributes: true });
      });
      options.ours = 'pass';
      await expect(stream.locator(NOTE)).not.toContainText('kernel’s messages');
      await expectPictures(stream, 4);
      await expect(stream).not.toHaveAttribute('data-flickered');
      await page.goto('about:blank'); // while the proxy is there
      proxy.close();
    });
  }
});
