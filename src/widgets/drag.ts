/** Dragging a plot out of the sidebar: into the dock as a pane, into a notebook as a cell. */

import { MimeData, UUID } from '@lumino/coreutils';
import { Drag } from '@lumino/dragdrop';
import type { Widget } from '@lumino/widgets';

import { h } from '../plot/dom';
import { MimeTypes } from '../tokens';
import { plotCode } from './code';
import { plotIcon } from './icons';

/** A pointer that moves less than this is a click (px, as in Lab's own lists). */
const THRESHOLD_PX = 5;

/** In this outer part of a document Lab splits the dock; inside it a notebook takes a cell. */
const EDGE_SHARE = 0.2;

export interface IPlotDragOptions {
  readonly plot: string;
  readonly title: string;
  readonly createPane: () => Widget;
  /** The drag ended over something that took the code, perhaps as the cell of this id. */
  readonly onCodeDropped: (cell: string) => void;
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
  const { plot, title, createPane, onCodeDropped } = options;
  const mimeData = new PlotMime();
  const cell = {
    id: UUID.uuid4(),
    cell_type: 'code',
    source: plotCode(plot),
    metadata: {},
    outputs: [],
    execution_count: null
  };
  mimeData.setData(MimeTypes.widgetFactory, createPane);
  mimeData.setData(MimeTypes.cells, [cell]);
  const icon = h('span');
  plotIcon(plot).element({ container: icon });
  const moving = new Drag({
    mimeData,
    dragImage: h('div', { class: 'jp-DaskDiag-ghost' }, icon, title),
    proposedAction: 'copy',
    supportedActions: 'copy'
  });
  const steer = (event: PointerEvent): void => mimeData.steer(event, moving);
  window.addEventListener('pointermove', steer, true); // before Lumino's own, on the document
  const action = await moving.start(clientX, clientY);
  window.removeEventListener('pointermove', steer, true);
  moving.dispose();
  if (action !== 'none' && mimeData.hasData(MimeTypes.cells)) {
    onCodeDropped(cell.id);
  }
}

/**
 * What is dragged; it holds a cell over the middle of a notebook only.
 *
 * A notebook takes whatever holds cells, wherever over it, and would leave the dock no drop zone on
 * the side of a notebook that fills it.
 */
class PlotMime extends MimeData {
  override hasData(mime: string): boolean {
    return super.hasData(mime) && (mime !== MimeTypes.cells || this._isOverMiddle);
  }

  steer(event: PointerEvent, drag: Drag): void {
    const { clientX, clientY } = event;
    const [under] = document.elementsFromPoint(clientX, clientY);
    const notebook = under?.closest('.jp-NotebookPanel')?.querySelector('.jp-Notebook') ?? null;
    const box = notebook?.getBoundingClientRect();
    const isMiddle = box !== undefined && isInMiddle(clientX, clientY, box);
    if (this._isOverMiddle && !isMiddle) {
      // It has shown where a cell would go, and is not told otherwise that it will not.
      const options = { drag, related: null, type: 'lm-dragleave' } as const;
      notebook?.dispatchEvent(new Drag.Event(event, options));
    }
    this._isOverMiddle = isMiddle;
  }

  private _isOverMiddle = false;
}

function isInMiddle(clientX: number, clientY: number, box: DOMRect): boolean {
  const x = (clientX - box.left) / box.width;
  const y = (clientY - box.top) / box.height;
  return Math.min(x, y, 1 - x, 1 - y) > EDGE_SHARE;
}
