// What `expose_app_in_browser` puts on the window, as far as tests use it, and waiting for it.
import { expect, Page } from '@playwright/test';

/** A widget of the main area; a notebook's has the two optional parts. */
export interface IWidget {
  id: string;
  context?: { path: string };
  sessionContext?: { ready: Promise<void>; session: { kernel: IKernel | null } | null };
}

export interface IKernel {
  info: Promise<unknown>;
  status: string;
  connectionStatus: string;
  restart(): Promise<void>;
}

export interface IApp {
  restored: Promise<void>;
  commands: { execute(id: string, args?: object): Promise<unknown> };
  shell: { widgets(area: string): Iterable<IWidget> };
}

/**
 * Wait until `promised`, which the page runs, comes true: asked anew every second, because Chromium
 * fails an evaluation whose promise it collects, as it can where Lab replaces what is waited for.
 */
export async function comesTrue(
  page: Page,
  promised: (given: string) => Promise<boolean>,
  given = ''
): Promise<void> {
  const patience = 'new Promise(resolve => setTimeout(resolve, 1000, false))';
  const ask = `Promise.race([(${String(promised)})(${JSON.stringify(given)}), ${patience}])`;
  // A navigation ends what is evaluated; the next try is in the new page.
  const isTrue = async (): Promise<void> => expect(await page.evaluate(ask)).toBe(true);
  await expect(isTrue).toPass({ timeout: 60_000 });
}
