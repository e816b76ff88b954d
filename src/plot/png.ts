/** A picture as it is saved: its headline and legend above what was drawn, on the page's colour. */

import { LEGEND_MARKS, type ILegendItem, type ILook } from './control';
import type { ITranslate } from './text';

/** Height of a line and the space left of it, in CSS pixels. */
const LINE_PX = 22;
const MARGIN_PX = 8;

/** Return a canvas' picture as PNG. */
export function pngOf(
  picture: HTMLCanvasElement,
  title: string,
  legend: readonly ILegendItem[],
  look: ILook,
  trans: ITranslate
): Promise<Blob> {
  const scale = window.devicePixelRatio || 1; // Bokeh exports in the screen's pixels
  const lines = Number(title !== '') + Number(legend.length > 0);
  const canvas = document.createElement('canvas');
  canvas.width = picture.width;
  canvas.height = picture.height + Math.round(lines * LINE_PX * scale);
  const context = canvas.getContext('2d');
  if (context === null) {
    throw new Error(trans.__('This browser has no canvas left for the picture.'));
  }
  context.fillStyle = look.background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, canvas.height - picture.height);
  context.scale(scale, scale);
  context.textBaseline = 'middle';
  context.fillStyle = look.foreground;
  context.font = `bold ${look.font_size} ${look.font}`;
  context.fillText(title, MARGIN_PX, LINE_PX / 2);
  context.font = `${look.font_size} ${look.font}`;
  let x = MARGIN_PX;
  const write = (text: string, color: string, alpha: number): void => {
    Object.assign(context, { fillStyle: color, globalAlpha: alpha });
    context.fillText(text, x, (lines - 0.5) * LINE_PX);
    x += context.measureText(text).width + MARGIN_PX;
  };
  for (const { label, shape, color, alpha } of legend) {
    write(LEGEND_MARKS[shape] ?? LEGEND_MARKS.fill, color, alpha);
    write(label, look.foreground, 1);
  }
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      blob =>
        blob === null ? reject(new Error(trans.__('The picture is too large.'))) : resolve(blob),
      'image/png'
    )
  );
}
