/** A picture as it is saved: its headline and legend above what was drawn, on the page's colour. */

import { LEGEND_MARKS, type ILegendItem, type ILook } from './control';
import type { ITranslate } from './text';

/** Height of a line and the space left of it, in CSS pixels. */
const LINE_PX = 22;
const MARGIN_PX = 8;

/** Return a canvas' picture as PNG. */
export async function pngOf(
  picture: HTMLCanvasElement,
  title: string,
  legend: readonly ILegendItem[],
  look: ILook,
  trans: ITranslate
): Promise<Blob> {
  const scale = window.devicePixelRatio; // Bokeh exports in the screen's pixels
  const size = { width: picture.width, height: picture.height + Math.round(2 * LINE_PX * scale) };
  const canvas = Object.assign(document.createElement('canvas'), size);
  const context = canvas.getContext('2d');
  if (context === null) {
    throw new Error(trans.__('This browser has no canvas left for the picture.'));
  }
  context.fillStyle = look.background;
  context.fillRect(0, 0, size.width, size.height);
  context.drawImage(picture, 0, size.height - picture.height);
  context.scale(scale, scale);
  context.textBaseline = 'middle';
  let x = MARGIN_PX;
  const write = (text: string, line: number, color = look.foreground, alpha = 1): void => {
    Object.assign(context, { fillStyle: color, globalAlpha: alpha });
    context.fillText(text, x, (line - 0.5) * LINE_PX);
  };
  context.font = `bold ${look.font_size} ${look.font}`;
  write(title, 1);
  context.font = `${look.font_size} ${look.font}`;
  for (const { label, shape, color, alpha } of legend) {
    write(LEGEND_MARKS[shape] ?? LEGEND_MARKS.fill, 2, color, alpha);
    x += LINE_PX / 2 + 4;
    write(label, 2);
    x += context.measureText(label).width + 2 * MARGIN_PX;
  }
  const blob = await new Promise<Blob | null>(resolve => canvas.toBlob(resolve));
  if (blob === null) {
    throw new Error(trans.__('The picture is too large.'));
  }
  return blob;
}
