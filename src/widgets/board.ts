/** A place for panes where the application has no dock of its own: Notebook 7's right area. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { DockPanelSvg } from '@jupyterlab/ui-components';
import type { Widget } from '@lumino/widgets';

import { BOARD_ID } from '../tokens';
import { diagIcon } from './icons';

export class Board extends DockPanelSvg {
  constructor(trans: TranslationBundle) {
    super({ mode: 'multiple-document', spacing: 4 });
    this.id = BOARD_ID;
    this.addClass('jp-DaskDiag-board');
    this.title.icon = diagIcon;
    this.title.label = trans.__('Dask plots');
    this.title.caption = trans.__('Live plots of Dask clusters');
    // An empty board has no use; the next pane brings another.
    this.layoutModified.connect(() => {
      if (this.isEmpty && !this.isDisposed) {
        this.dispose();
      }
    }, this);
  }

  /** Return the pane of that id, where it is on this board. */
  find(id: string | undefined): Widget | null {
    return [...this.widgets()].find(widget => widget.id === id) ?? null;
  }
}
