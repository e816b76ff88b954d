// What is drawn inside a pane, seen through the shadow roots that Bokeh draws in.
import { expect, Locator } from '@playwright/test';

/** More than any picture takes, also on a machine that is busy. */
const PATIENCE_MS = 45_000;

export interface IPicture {
  /** Changes when any pixel of any canvas does. */
  readonly hash: string;
  /** Different colours on the canvases, at most 64. */
  readonly colours: number;
  /** Mean brightness of what is opaque, 0 (black) to 255. */
  readonly brightness: number;
}

/** Take a picture of all canvases in an element; `hash` is '' where there is none. */
export async function pictureOf(pane: Locator): Promise<IPicture> {
  return pane.evaluate(root => {
    const canvases: HTMLCanvasElement[] = [];
    const walk = (node: Element | ShadowRoot): void => {
      for (const child of node.querySelectorAll('*')) {
        if (child instanceof HTMLCanvasElement && child.width > 0 && child.height > 0) {
          canvases.push(child);
        }
        if (child.shadowRoot) {
          walk(child.shadowRoot);
        }
      }
    };
    walk(root);
    let hash = 5381;
    let light = 0;
    let opaque = 0;
    const colours = new Set<number>();
    for (const canvas of canvases) {
      // A copy: a WebGL canvas has no 2D context, and asking for one would spoil it.
      const copy = document.createElement('canvas');
      copy.width = canvas.width;
      copy.height = canvas.height;
      const context = copy.getContext('2d');
      if (!context) {
        continue;
      }
      context.drawImage(canvas, 0, 0);
      const bytes = context.getImageData(0, 0, copy.width, copy.height).data;
      const pixels = new Uint32Array(bytes.buffer);
      for (let i = 0; i < pixels.length; i++) {
        hash = ((hash * 33) ^ (pixels[i] ?? 0)) | 0;
        if ((bytes[4 * i + 3] ?? 0) === 255) {
          opaque++;
          light += ((bytes[4 * i] ?? 0) + (bytes[4 * i + 1] ?? 0) + (bytes[4 * i + 2] ?? 0)) / 3;
          if (colours.size < 64) {
            colours.add(pixels[i] ?? 0);
          }
        }
      }
    }
    return {
      hash: canvases.length > 0 ? String(hash) : '',
      colours: colours.size,
      brightness: opaque > 0 ? light / opaque : NaN
    };
  });
}

/** Wait until something is drawn, then until it is drawn differently. */
export async function expectToMove(pane: Locator): Promise<void> {
  await expectToShow(pane);
  const before = (await pictureOf(pane)).hash;
  await expect
    .poll(async () => (await pictureOf(pane)).hash, {
      message: 'the picture changes',
      timeout: PATIENCE_MS
    })
    .not.toBe(before);
}

/** Wait until a pane shows more than an empty area. */
export async function expectToShow(pane: Locator, timeout = PATIENCE_MS): Promise<void> {
  await expect
    .poll(async () => (await pictureOf(pane)).colours, { message: 'something is drawn', timeout })
    .toBeGreaterThan(3);
}

/** Wait until that many different pictures have been seen. */
export async function expectPictures(pane: Locator, count: number): Promise<void> {
  const seen = new Set<string>();
  const look = async (): Promise<number> => seen.add((await pictureOf(pane)).hash).size;
  await expect
    .poll(look, { message: 'the picture goes on changing', timeout: PATIENCE_MS })
    .toBeGreaterThanOrEqual(count);
}
