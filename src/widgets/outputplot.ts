/** A live plot as a cell's output; its notebook finds it a new dashboard when the old one is gone. */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { PanelLayout, Widget } from '@lumino/widgets';

import { savedBinding } from '../model/binding';
import { MimeTypes } from '../tokens';
import { plotOutputOf, type IOpening } from '../wire';
import { PlotView } from './plotview';
import type { IPlotServices } from './services';

export class OutputPlot extends Widget implements IRenderMime.IRenderer {
  constructor(
    private readonly _services: IPlotServices,
    private readonly _resolver: IRenderMime.IResolver | null,
    /** A click in the picture asked for another plot; a cell has no place for it. */
    private readonly _onOpened: (view: PlotView, opening: IOpening) => void
  ) {
    super();
    this.addClass('jp-DaskDiag-output');
    this.layout = this._content;
  }

  renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    for (const view of [...this._content.widgets]) {
      view.dispose();
    }
    this.node.textContent = '';
    const asked = plotOutputOf(model.data[MimeTypes.plot]);
    const dashboard = asked?.dashboard ?? '';
    const binding = savedBinding({ dashboard, notebook: this._notebookPath() });
    if (asked === null || binding === null) {
      this.node.textContent = this._services.trans.__('This output names no plot.');
      return Promise.resolve();
    }
    this.node.style.height = `${asked.height}px`;
    const view = new PlotView({ ...asked, binding, services: this._services });
    view.opened.connect((_, opening) => this._onOpened(view, opening));
    this._content.addWidget(view);
    return Promise.resolve();
  }

  /** Lab's resolver knows the path of the document; other applications' may not. */
  private _notebookPath(): string | null {
    const resolver = this._resolver;
    const path = resolver !== null && 'path' in resolver ? resolver.path : null;
    return typeof path === 'string' ? path : null;
  }

  private readonly _content = new PanelLayout();
}
