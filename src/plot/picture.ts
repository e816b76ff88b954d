/** A picture as it is saved: its headline and legend above what was drawn, on the page's colour. */

import type { IBokeh, ICanvasLayer } from './bokeh';
import { LEGEND_MARKS, type ILegendItem, type ILook } from './control';
import type { ITranslate } from './text';

/** Height of a line and the space left of it, in CSS pixels. */
const LINE_PX = 22;
const MARGIN_PX = 8;

/** Return what was drawn as a file of its kind, PNG or SVG. */
export function pictureOf(
  bokeh: IBokeh,
  picture: ICanvasLayer,
  title: string,
  legend: readonly ILegendItem[],
  look: ILook,
  trans: ITranslate
): Promise<Blob> {
  const { CanvasLayer } = bokeh.require('core/util/canvas');
  const { width, height } = picture.bbox;
  const layer = new CanvasLayer(picture.backend, true);
  layer.resize(width, height + 2 * LINE_PX);
  const { ctx: context, pixel_ratio: scale } = layer; // Bokeh exports in the screen's pixels
  context.fillStyle = look.background;
  context.fillRect(0, 0, width * scale, (height + 2 * LINE_PX) * scale);
  context.drawImage(picture.canvas, 0, Math.round(2 * LINE_PX * scale));
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
  return layer.to_blob().catch(() => {
    throw new Error(trans.__('The picture is too large.'));
  });
}
