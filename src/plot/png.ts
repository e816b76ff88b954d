/** A picture as it is saved: its headline and legend above what was drawn, on the page's colour. */

import type { ILegendItem, ILook } from './control';
import type { ITranslate } from './text';

/** Height of a line and the space left of it, in CSS pixels. */
const LINE_PX = 22;
const MARGIN_PX = 8;
const SWATCH_PX = 10;

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
  drawLegend(context, legend, (lines - 0.5) * LINE_PX, look.foreground);
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      blob =>
        blob === null ? reject(new Error(trans.__('The picture is too large.'))) : resolve(blob),
      'image/png'
    )
  );
}

function drawLegend(
  context: CanvasRenderingContext2D,
  legend: readonly ILegendItem[],
  y: number,
  foreground: string
): void {
  let x = MARGIN_PX;
  for (const { label, color, alpha } of legend) {
    context.globalAlpha = alpha;
    context.fillStyle = color;
    context.fillRect(x, y - SWATCH_PX / 2, SWATCH_PX, SWATCH_PX);
    context.globalAlpha = 1;
    context.fillStyle = foreground;
    context.fillText(label, x + SWATCH_PX + 4, y);
    x += SWATCH_PX + 4 + context.measureText(label).width + 2 * MARGIN_PX;
  }
}
