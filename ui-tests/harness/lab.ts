// JupyterLab in the browser: notebook, sidebar, panes, and dragging with real mouse events.
import { expect, Locator, Page } from '@playwright/test';

import { comesTrue, IApp } from './app';
import { Notebook } from './notebook';
import { JupyterServer } from './server';

const DOCK = '#jp-main-dock-panel';
const SIDEBAR = '#dask-diag-lab-sidebar';
const ITEM = '.jp-DaskDiag-plotItem';
const PANE = '.jp-DaskDiag-pane';

/** Where in an area a drop makes a new pane: a point a little inside that edge, or the middle. */
export type Edge = 'left' | 'right' | 'top' | 'bottom' | 'middle';

interface IPoint {
  x: number;
  y: number;
}

export class Lab {
  constructor(
    readonly page: Page,
    readonly server: JupyterServer,
    /** Where the browser finds the server: there, or at something that stands before it. */
    readonly url = server.url
  ) {}

  /** The same Lab by another way: what stands before the server begins with `origin`. */
  through(origin: string): Lab {
    return new Lab(this.page, this.server, origin + new URL(this.server.url).pathname);
  }

  /** Open Lab on a notebook in an empty workspace and wait for its kernel. */
  async open(path: string): Promise<Notebook> {
    await this.page.goto(`${this.url}lab/tree/${path}?reset&token=${this.server.token}`);
    await this.restored();
    const notebook = await this.notebook(path);
    await notebook.ready();
    return notebook;
  }

  /** Open a notebook that has the window for itself at a page of the server; wait for its kernel. */
  async openAlone(page: string, path: string): Promise<Notebook> {
    await this.page.goto(`${this.url}${page}?token=${this.server.token}`);
    const notebook = new Notebook(this.page, path, this.page.locator('.jp-NotebookPanel'));
    await notebook.ready();
    return notebook;
  }

  /** Open one more notebook, in a tab beside the current one, and wait for its kernel. */
  async openToo(path: string): Promise<Notebook> {
    const options = { mode: 'split-bottom' };
    await this.command('docmanager:open', { path, factory: 'Notebook', options });
    const notebook = await this.notebook(path);
    await notebook.ready();
    return notebook;
  }

  /** Wait until Lab has put back its layout. */
  async restored(): Promise<void> {
    await comesTrue(this.page, async () => {
      const app = (window as unknown as { jupyterapp?: IApp }).jupyterapp;
      await app?.restored;
      return app !== undefined;
    });
    await expect(this.page.locator('#jupyterlab-splash')).toHaveCount(0, { timeout: 60_000 });
  }

  /** The open notebook with this path. */
  async notebook(path: string): Promise<Notebook> {
    const find = (wanted: string): string | null => {
      const { shell } = (window as unknown as { jupyterapp: IApp }).jupyterapp;
      return [...shell.widgets('main')].find(w => w.context?.path === wanted)?.id ?? null;
    };
    const handle = await this.page.waitForFunction(find, path);
    const id = await handle.jsonValue();
    return new Notebook(this.page, path, this.page.locator(`[id="${id}"]`));
  }

  /** Execute a command of Lab. */
  async command(id: string, args: object = {}): Promise<void> {
    await this.page.evaluate(
      async ([name, given]) => {
        const app = (window as unknown as { jupyterapp: IApp }).jupyterapp;
        await app.commands.execute(name, given);
      },
      [id, args] as const
    );
  }

  /** Wait until Lab has written a layout with these plots to the server's workspace. */
  async saved(...plots: string[]): Promise<void> {
    await expect
      .poll(async () => {
        const reply = await this.server.api('lab/api/workspaces');
        const text = await reply.text();
        return plots.filter(plot => !text.includes(plot));
      })
      .toEqual([]);
  }

  /**
   * Ask for a restart of a notebook's kernel, as its toolbar button does once the question is
   * answered. Its end is not waited for here: Chromium may collect that promise.
   */
  async restartKernel(path: string): Promise<void> {
    await this.page.evaluate(wanted => {
      const { shell } = (window as unknown as { jupyterapp: IApp }).jupyterapp;
      const panel = [...shell.widgets('main')].find(w => w.context?.path === wanted);
      void panel?.sessionContext?.session?.kernel?.restart();
    }, path);
  }

  /** Our sidebar, opened by its icon if it is not open. */
  async sidebar(): Promise<Locator> {
    const sidebar = this.page.locator(SIDEBAR);
    if (!(await sidebar.isVisible())) {
      await this.page.locator('.jp-SideBar [data-id="dask-diag-lab-sidebar"]').click();
    }
    await expect(sidebar).toBeVisible();
    return sidebar;
  }

  /** All plot entries of the sidebar. */
  get items(): Locator {
    return this.page.locator(SIDEBAR).locator(ITEM);
  }

  /** The entry of a plot; with two clusters, `nth` says whose. */
  item(plot: string, nth = 0): Locator {
    return this.page.locator(SIDEBAR).locator(`${ITEM}[data-plot="${plot}"]`).nth(nth);
  }

  /** Open the cluster and the group that a plot is in, where they are closed, and wait for its row. */
  async reveal(plot: string, nth = 0): Promise<Locator> {
    const item = this.item(plot, nth);
    await expect(item).toBeAttached();
    const folded = item
      .locator('xpath=ancestor::section')
      .locator('.jp-DaskDiag-fold[aria-expanded="false"]');
    if ((await folded.count()) > 0) {
      await folded.click();
    }
    const group = item.locator('xpath=ancestor::*[@data-group]');
    const closed = group.locator('.jp-DaskDiag-groupToggle[aria-expanded="false"]');
    if ((await closed.count()) > 0) {
      await closed.click();
    }
    await expect(item).toBeVisible();
    return item;
  }

  /** All panes of a plot. */
  panes(plot?: string): Locator {
    return this.page.locator(plot ? `${PANE}[data-plot="${plot}"]` : PANE);
  }

  /** The only pane of a plot, once it is live. */
  async livePane(plot: string): Promise<Locator> {
    const pane = this.panes(plot);
    await expect(pane).toHaveCount(1);
    await expect(pane).toHaveAttribute('data-state', 'live');
    return pane;
  }

  /** Drag a plot by its row to an edge of an area: of the whole dock, or of a pane in it. */
  async drag(plot: string, edge: Edge, area?: Locator): Promise<Locator> {
    await this.sidebar();
    await this._dragItem(plot, await pointIn(area ?? this.page.locator(DOCK), edge));
    return this.livePane(plot);
  }

  /** Drag a plot by its row into the middle of an area: in a notebook that makes a cell. */
  async dropIn(plot: string, area: Locator, nth = 0): Promise<void> {
    await this.sidebar();
    await this._dragItem(plot, await pointIn(area, 'middle'), nth);
  }

  /** Drag a plot by its row to the upper end of a cell. */
  async dropBefore(plot: string, cell: Locator): Promise<void> {
    const { x, y } = await pointIn(cell, 'middle');
    const { height = 0 } = (await cell.boundingBox()) ?? {};
    await this._dragItem(plot, { x, y: y - height / 2 });
  }

  private async _dragItem(plot: string, to: IPoint, nth = 0): Promise<void> {
    const item = await this.reveal(plot, nth);
    // A run that comes moves the rows, but for some time after the pointer has moved over them.
    let from: IPoint;
    do {
      await item.hover();
      from = await pointIn(item, 'middle');
      await this.page.mouse.move(from.x + 1, from.y);
    } while (!(await item.evaluate(isAt, from)));
    await this._dragFrom(from, to);
  }

  private async _dragFrom(from: IPoint, to: IPoint): Promise<void> {
    const { mouse } = this.page;
    await mouse.move(from.x, from.y);
    await mouse.down();
    await mouse.move(from.x + 10, from.y + 10, { steps: 6 });
    await expect(this.page.locator('.lm-mod-drag-image')).toBeVisible();
    await mouse.move(to.x, to.y, { steps: 12 });
    // As people do: let go where Lab shows that it will be.
    await expect(this.page.locator('.lm-DockPanel-overlay:not(.lm-mod-hidden)')).toBeVisible();
    // The drop goes where the last pointer event was seen.
    await mouse.move(to.x + 1, to.y, { steps: 2 });
    await mouse.up();
    await expect(this.page.locator('.lm-mod-drag-image')).toHaveCount(0);
  }
}

function isAt(node: Element, { x, y }: IPoint): boolean {
  return node.contains(document.elementFromPoint(x, y));
}

async function pointIn(area: Locator, edge: Edge): Promise<IPoint> {
  const box = await area.boundingBox();
  if (!box) {
    throw new Error('The area to drop on is not visible.');
  }
  const across = { left: 0.12, right: 0.88, top: 0.5, bottom: 0.5, middle: 0.5 }[edge];
  const down = { left: 0.5, right: 0.5, top: 0.12, bottom: 0.88, middle: 0.5 }[edge];
  return { x: box.x + box.width * across, y: box.y + box.height * down };
}
