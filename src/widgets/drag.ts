/** Dragging a plot out of the sidebar: into the dock as a pane, into a notebook as a cell. */

import { MimeData } from '@lumino/coreutils';
import { Drag } from '@lumino/dragdrop';
import type { Widget } from '@lumino/widgets';

import { h } from '../text';
import { MimeTypes } from '../tokens';
import { plotIcon } from './icons';

/** A pointer that moves less than this is a click (px, as in Lab's own lists). */
const THRESHOLD_PX = 5;

export interface IPlotDragOptions {
  readonly plot: string;
  readonly title: string;
  /** Null where panes are switched off. */
  readonly createPane: () => Widget | null;
  /** Make it a cell if it was dropped here in the middle of a notebook; returns whether it was. */
  readonly insertCell: (clientX: number, clientY: number) => boolean;
}

/** Watch a press; it becomes a drag when the pointer moves far enough. */
export function startDrag(press: PointerEvent, options: IPlotDragOptions): void {
  if (press.button !== 0) {
    return;
  }
  const stop = new AbortController();
  const watch = { capture: true, signal: stop.signal };
  document.addEventListener('pointerup', () => stop.abort(), watch);
  document.addEventListener('pointercancel', () => stop.abort(), watch);
  document.addEventListener(
    'pointermove',
    ({ clientX, clientY }) => {
      if (Math.hypot(clientX - press.clientX, clientY - press.clientY) >= THRESHOLD_PX) {
        stop.abort();
        void drag(clientX, clientY, options);
      }
    },
    watch
  );
}

async function drag(clientX: number, clientY: number, options: IPlotDragOptions): Promise<void> {
  const { plot, title, createPane, insertCell } = options;
  let end = { clientX, clientY };
  const stop = new AbortController();
  window.addEventListener('pointerup', up => (end = up), { capture: true, signal: stop.signal });
  const mimeData = new MimeData();
  // The dock asks for the widget at the drop, and shows nothing where it gets none.
  mimeData.setData(MimeTypes.widgetFactory, () =>
    insertCell(end.clientX, end.clientY) ? null : createPane()
  );
  const icon = h('span');
  plotIcon(plot).element({ container: icon });
  const moving = new Drag({
    mimeData,
    dragImage: h('div', { class: 'jp-DaskDiag-ghost' }, icon, title),
    proposedAction: 'copy',
    supportedActions: 'copy'
  });
  await moving.start(clientX, clientY);
  stop.abort();
  moving.dispose();
}
