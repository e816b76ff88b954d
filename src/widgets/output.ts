/** A live plot as a cell's output; it goes on with its notebook's next cluster. */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { PanelLayout, Widget } from '@lumino/widgets';

import { plotOutputOf } from '../api/protocol';
import { MimeTypes } from '../tokens';
import { PlotWidget } from './plotwidget';
import type { IPlotServices } from './services';

export class OutputPlot extends Widget implements IRenderMime.IRenderer {
  constructor(
    private readonly _services: IPlotServices,
    private readonly _resolver: IRenderMime.IResolver | null,
    /** Told of each plot that is about to be shown. */
    private readonly _onMade: (plot: PlotWidget) => void
  ) {
    super();
    this.addClass('jp-DaskDiag-output');
    this.layout = this._content;
  }

  renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    [...this._content.widgets].forEach(widget => widget.dispose());
    this.node.textContent = '';
    const asked = plotOutputOf(model.data[MimeTypes.plot]);
    if (asked === null) {
      this.node.textContent = this._services.trans.__('This output names no plot.');
      return Promise.resolve();
    }
    const { dashboard, height, ...shown } = asked;
    // Lab's resolver knows the path of the document; other applications' may not.
    const path = this._resolver !== null && 'path' in this._resolver ? this._resolver.path : null;
    const notebook = typeof path === 'string' ? path : null;
    const binding = { dashboard, kernel: null, notebook, name: '' };
    this.node.style.height = `${height}px`;
    const plot = new PlotWidget({ ...shown, binding, services: this._services });
    this._onMade(plot);
    this._content.addWidget(plot);
    return Promise.resolve();
  }

  private readonly _content = new PanelLayout();
}
