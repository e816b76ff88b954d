/** A picture as it is saved: what Bokeh drew, its title above, on the colour of the page. */

import type { ILook } from '../wire';
import type { ITranslate } from './words';

/** Height of the title's line and the space left of it, in CSS pixels. */
const TITLE_PX = 24;
const MARGIN_PX = 8;

/** Return a canvas' picture as PNG. */
export function pngOf(
  picture: HTMLCanvasElement,
  title: string,
  look: ILook,
  trans: ITranslate
): Promise<Blob> {
  const scale = window.devicePixelRatio || 1; // Bokeh exports in the screen's pixels
  const top = title === '' ? 0 : Math.round(TITLE_PX * scale);
  const canvas = document.createElement('canvas');
  canvas.width = picture.width;
  canvas.height = picture.height + top;
  const context = canvas.getContext('2d');
  if (context === null) {
    throw new Error(trans.__('This browser has no canvas left for the picture.'));
  }
  context.fillStyle = look.background;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(picture, 0, top);
  if (title !== '') {
    context.scale(scale, scale);
    context.font = `bold ${look.font_size} ${look.font}`;
    context.fillStyle = look.foreground;
    context.textBaseline = 'middle';
    context.fillText(title, MARGIN_PX, TITLE_PX / 2);
  }
  return new Promise((resolve, reject) =>
    canvas.toBlob(
      blob =>
        blob === null ? reject(new Error(trans.__('The picture is too large.'))) : resolve(blob),
      'image/png'
    )
  );
}
