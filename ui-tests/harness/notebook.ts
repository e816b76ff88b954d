// A notebook open in Lab or in Notebook 7, used as a person does.
import { expect, Locator, Page } from '@playwright/test';

import { comesTrue, IApp } from './app';

const EXECUTED = /\[\d+\]/;
const BLOCK = String.raw`Traceback .*\n(?: .*\n)+\S+.*\n?`;
const LINK = String.raw`\n(?:The above|During) .*\n\n`;
/**
 * What Dask says of the machine it is on: its usual port is taken; a disk is too slow to spill to;
 * the end of the cluster cut off a worker's heartbeat. No other warning or error goes with it.
 */
const OF_THE_MACHINE = [
  /.*Port 8787 is already in use[^]*?on port \d+ instead\s*(warnings\.warn\(\s*)?/g,
  /.*distributed\.worker\.memory - WARNING - .*\n?/g,
  new RegExp(
    `.*distributed\\.worker - ERROR - Failed .* heartbeat\\.\n${BLOCK}(?:${LINK}${BLOCK})*`,
    'g'
  ),
  /.*distributed\.nanny - WARNING - Worker process still alive after .*\n?/g,
  /.*distributed\.worker - WARNING - Scheduler was unaware of this worker.*\n?/g
];

export class Notebook {
  constructor(
    private readonly _page: Page,
    readonly path: string,
    /** The panel's element. */
    readonly panel: Locator
  ) {}

  /** The code cell with this number, from 0; text cells do not count. */
  cell(index: number): Locator {
    return this.panel.locator('.jp-CodeCell').nth(index);
  }

  /** The code cells with this text. */
  cells(source: string): Locator {
    return this.panel.locator('.jp-CodeCell').filter({ hasText: source });
  }

  /** Wait until the kernel has introduced itself and waits for work; before, a cell is not run. */
  async ready(): Promise<void> {
    const isReady = async (path: string): Promise<boolean> => {
      const app = (window as unknown as { jupyterapp?: IApp }).jupyterapp;
      const panel = [...(app?.shell.widgets('main') ?? [])].find(w => w.context?.path === path);
      await panel?.sessionContext?.ready;
      const kernel = panel?.sessionContext?.session?.kernel;
      await kernel?.info;
      // Lab may never learn how a kernel on a gateway is before it has run a cell.
      const isIdle = kernel?.status === 'idle' || kernel?.status === 'unknown';
      return isIdle && kernel.connectionStatus === 'connected';
    };
    await comesTrue(this._page, isReady, this.path);
  }

  /** Press Shift-Enter in a cell and return while it runs. */
  async start(index: number): Promise<void> {
    await this.cell(index).locator('.jp-InputArea-editor').first().click();
    await this._page.keyboard.press('Shift+Enter');
  }

  /** Run a cell to its end; an error in it fails the test with its text. */
  async run(index: number, timeout = 60_000): Promise<void> {
    await this.start(index);
    await this.ended(index, timeout);
  }

  /** Wait until a cell that was started has ended without an error. */
  async ended(index: number, timeout = 60_000): Promise<void> {
    await expect(this._prompt(index)).toHaveText(EXECUTED, { timeout });
    expect(await this.complaints(index)).toEqual([]);
  }

  /** Errors and warnings that a cell shows, but those of Dask about the machine it is on. */
  async complaints(index: number): Promise<string[]> {
    const red = this.cell(index).locator('[data-mime-type="application/vnd.jupyter.stderr"]');
    const texts = await red.allInnerTexts();
    return texts
      .map(text => OF_THE_MACHINE.reduce((rest, words) => rest.replace(words, ''), text).trim())
      .filter(text => text);
  }

  /** Prove that a cell is running at this moment. */
  async expectBusy(index: number): Promise<void> {
    await expect(this._prompt(index)).toHaveText('[*]:');
  }

  private _prompt(index: number): Locator {
    return this.cell(index).locator('.jp-InputPrompt').first();
  }
}
