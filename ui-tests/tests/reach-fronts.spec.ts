// Wherever Jupyter is reached: below any path, behind reverse proxies. A tunnel is less than these.
import { IFront, reverseProxy } from '../harness/front';
import { CLUSTER, WORK } from '../harness/ipynb';
import { expectToMove } from '../harness/picture';
import { expect, test } from '../harness/test';

test.use({
  ignoreHTTPSErrors: true,
  place: {
    // A named server of a user of a hub, whose name has a space, an @ and letters beyond ASCII.
    baseUrl: '/hub/user/jo%20hn@%C3%BCn%C3%AF/my%20lab/',
    // What Jupyter's documentation asks for behind a proxy that has a name of its own.
    config: [
      "c.ServerApp.local_hostnames = ['localhost', 'lab.localhost']",
      "c.ServerApp.allow_origin_pat = r'https?://lab\\.localhost:\\d+'",
      'c.ServerApp.trust_xheaders = True'
    ]
  }
});

const FRONTS: Readonly<Record<string, (jupyter: URL) => Promise<IFront>>> = {
  'HTTPS that ends at a reverse proxy': url => reverseProxy(url, { tls: true, keepsHost: true }),
  'a reverse proxy that changes Host': url => reverseProxy(url, { tls: false, keepsHost: false })
};

test('plots are live in a pane and in a tab behind whatever stands before Jupyter', async ({
  lab,
  page,
  server
}) => {
  const path = server.writeNotebook('front.ipynb', [CLUSTER, WORK]);
  await (await lab.open(path)).run(0);
  for (const [name, begin] of Object.entries(FRONTS)) {
    await test.step(name, async () => {
      const front = await begin(new URL(server.url));
      const there = lab.through(front.origin);
      const notebook = await there.open(path);
      await there.sidebar();
      await notebook.run(1);
      await (await there.reveal('task-stream')).click();
      const pane = await there.livePane('task-stream');
      await expectToMove(pane);

      const opened = page.context().waitForEvent('page');
      await pane.click({ position: { x: 20, y: 8 } }); // the headline: a block would open its profile
      await there.command('dask-diag-lab:open-in-browser');
      const tab = await opened;
      await expect(tab).toHaveURL(({ href }) => href.startsWith(`${there.url}dask-diag-lab/`));
      const plot = tab.locator('.plot[data-plot="task-stream"] .jp-DaskDiag-plot');
      await expect(plot).toHaveAttribute('data-state', 'live');
      await expectToMove(plot);
      await tab.close();
      // Away first: what is cut off would be an error of the page.
      await page.goto('about:blank');
      front.close();
    });
  }
});
