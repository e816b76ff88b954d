/** Dragging a plot out of the sidebar: into the dock as a pane, into a notebook as a cell. */

import { MimeData } from '@lumino/coreutils';
import { Drag } from '@lumino/dragdrop';
import type { Widget } from '@lumino/widgets';

import { codeCell, plotCode } from '../model/snippets';
import { MimeTypes } from '../tokens';
import { h } from './dom';
import { plotIcon } from './icons';

/** A pointer that moves less than this is a click (px, as in Lab's own lists). */
const THRESHOLD_PX = 5;

/** Near its edges a document is a place in the dock, elsewhere a notebook takes a cell. */
const EDGE = { sideways: 0.25, upright: 0.2 };

export interface IPlotDragOptions {
  readonly plot: string;
  readonly title: string;
  readonly createPane: () => Widget;
  /** The press became a drag: the click that follows is none. */
  readonly onStart: () => void;
  /** The drag ended over something that took the code, perhaps as the cell of this id. */
  readonly onCodeDropped: (cell: string) => void;
}

/** Begin to watch a press; it becomes a drag when the pointer moves far enough. */
export function watchPress(press: PointerEvent, options: IPlotDragOptions): void {
  if (press.button !== 0) {
    return;
  }
  const end = (): void => {
    document.removeEventListener('pointermove', move, true);
    document.removeEventListener('pointerup', end, true);
    document.removeEventListener('pointercancel', end, true);
  };
  const move = (event: PointerEvent): void => {
    const dx = Math.abs(event.clientX - press.clientX);
    const dy = Math.abs(event.clientY - press.clientY);
    if (dx >= THRESHOLD_PX || dy >= THRESHOLD_PX) {
      end();
      options.onStart();
      startDrag(event, options);
    }
  };
  document.addEventListener('pointermove', move, true);
  document.addEventListener('pointerup', end, true);
  document.addEventListener('pointercancel', end, true);
}

function startDrag(event: PointerEvent, options: IPlotDragOptions): void {
  const mimeData = new PlotMime();
  const cell = codeCell(plotCode(options.plot));
  mimeData.setData(MimeTypes.widgetFactory, options.createPane);
  mimeData.setData(MimeTypes.cells, [cell]);
  mimeData.setData(MimeTypes.text, cell.source);
  const drag = new Drag({
    mimeData,
    dragImage: ghost(options),
    proposedAction: 'copy',
    supportedActions: 'copy'
  });
  const steer = (move: PointerEvent): void => mimeData.steer(move, drag);
  window.addEventListener('pointermove', steer, true); // before Lumino's own, on the document
  window.addEventListener('pointerup', steer, true);
  const end = (action: Drag.DropAction): void => {
    window.removeEventListener('pointermove', steer, true);
    window.removeEventListener('pointerup', steer, true);
    drag.dispose();
    if (action !== 'none' && mimeData.isCode) {
      options.onCodeDropped(cell.id);
    }
  };
  void drag.start(event.clientX, event.clientY).then(end);
}

function ghost(options: IPlotDragOptions): HTMLElement {
  const icon = h('span', { class: 'jp-DaskDiag-plotIcon' });
  plotIcon(options.plot).element({ container: icon });
  return h('div', { class: 'jp-DaskDiag-ghost' }, icon, options.title);
}

/** What notebooks and editors would take for themselves, wherever over them it is dropped. */
const CODE_TYPES: readonly string[] = [MimeTypes.cells, MimeTypes.text];

/**
 * What is dragged, which is code over the middle of a document only.
 *
 * A notebook takes whatever offers cells, an editor whatever offers text, and neither leaves the
 * dock any drop zones over itself. So code is offered or not by where the pointer is, and whoever
 * showed a place before is told that the drag left.
 */
class PlotMime extends MimeData {
  get isCode(): boolean {
    return this._isCode;
  }

  override types(): string[] {
    return super.types().filter(mime => this._isCode || !CODE_TYPES.includes(mime));
  }

  override hasData(mime: string): boolean {
    return this.types().includes(mime);
  }

  /** Decide for the pointer's position; runs before Lumino looks at it. */
  steer(event: PointerEvent, drag: Drag): void {
    const under = document.elementsFromPoint(event.clientX, event.clientY);
    const dock = closest(under, '.lm-DockPanel');
    const tab = closest(under, '.lm-DockPanel-widget');
    if (dock === null && closest(under, '.jp-NotebookPanel') === null) {
      return;
    }
    const isCode = tab === null || !isNearEdge(event, tab.getBoundingClientRect());
    if (isCode === this._isCode) {
      return;
    }
    const left = isCode ? dock : (tab?.querySelector('.jp-Notebook') ?? null);
    left?.dispatchEvent(new Drag.Event(event, { drag, related: null, type: 'lm-dragleave' }));
    this._isCode = isCode;
  }

  private _isCode = true;
}

function closest(elements: readonly Element[], selector: string): Element | null {
  for (const element of elements) {
    const found = element.closest(selector);
    if (found !== null) {
      return found;
    }
  }
  return null;
}

/** True in the outer parts of a rectangle, where Lab splits. */
export function isNearEdge(
  point: { readonly clientX: number; readonly clientY: number },
  box: {
    readonly left: number;
    readonly top: number;
    readonly width: number;
    readonly height: number;
  }
): boolean {
  const x = (point.clientX - box.left) / box.width;
  const y = (point.clientY - box.top) / box.height;
  const { sideways, upright } = EDGE;
  return x < sideways || x > 1 - sideways || y < upright || y > 1 - upright;
}
