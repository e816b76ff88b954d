/** A picture as it is saved: its headline and legend above what was drawn, on the page's colour. */

import { LEGEND_MARKS, type ILegendItem, type IPlotTheme } from '../protocol/control';
import type { IBokeh, ICanvasLayer } from './bokeh';

/** Height of a line and the space left of it, in CSS pixels. */
const LINE_PX = 22;
const MARGIN_PX = 8;

/**
 * Return what was drawn, as pixels or SVG, with headline and legend.
 *
 * @param zoom - of what was drawn; the text stays as large as it is on screen.
 */
export function pictureOf(
  bokeh: IBokeh,
  picture: ICanvasLayer,
  title: string,
  legend: readonly ILegendItem[],
  theme: IPlotTheme,
  zoom = 1
): ICanvasLayer {
  const { CanvasLayer } = bokeh.require('core/util/canvas');
  const [width, height] = [picture.bbox.width * zoom, picture.bbox.height * zoom];
  const layer = new CanvasLayer(picture.backend, picture.pixel_ratio !== 1);
  layer.resize(width, height + 2 * LINE_PX);
  const { ctx: context, pixel_ratio: scale } = layer; // Bokeh exports in the screen's pixels
  context.fillStyle = theme.background;
  context.fillRect(0, 0, width * scale, (height + 2 * LINE_PX) * scale);
  const top = Math.round(2 * LINE_PX * scale);
  context.drawImage(picture.canvas, 0, top, width * scale, height * scale);
  context.scale(scale, scale);
  context.textBaseline = 'middle';
  let x = MARGIN_PX;
  const write = (text: string, line: number, color = theme.foreground, alpha = 1): void => {
    Object.assign(context, { fillStyle: color, globalAlpha: alpha });
    context.fillText(text, x, (line - 0.5) * LINE_PX);
  };
  context.font = `bold ${theme.font_size} ${theme.font}`;
  write(title, 1);
  context.font = `${theme.font_size} ${theme.font}`;
  for (const { label, shape, color, alpha } of legend) {
    write(LEGEND_MARKS[shape] ?? LEGEND_MARKS.fill, 2, color, alpha);
    x += LINE_PX / 2 + 4;
    write(label, 2);
    x += context.measureText(label).width + 2 * MARGIN_PX;
  }
  return layer;
}
