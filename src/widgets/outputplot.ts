/** A live plot as a cell's output; its notebook finds it a new dashboard when the old one is gone. */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { PanelLayout, Widget } from '@lumino/widgets';

import { savedBinding } from '../model/binding';
import { MimeTypes } from '../tokens';
import { plotOutputOf } from '../wire';
import { PlotView } from './plotview';
import type { IPlotServices } from './services';

export class OutputPlot extends Widget implements IRenderMime.IRenderer {
  constructor(
    private readonly _services: IPlotServices,
    private readonly _resolver: IRenderMime.IResolver | null,
    /** Told of each plot that is about to be shown, and whether its cluster `isChosen`. */
    private readonly _onMade: (view: PlotView, isChosen: boolean) => void
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
    // Nobody has put it beside a newer cluster: it says so of each, also after a reload.
    const binding = savedBinding({ dashboard, notebook: this._notebookPath(), passed: [] });
    if (asked === null || binding === null) {
      this.node.textContent = this._services.trans.__('This output names no plot.');
      return Promise.resolve();
    }
    this.node.style.height = `${asked.height}px`;
    const { isChosen, ...shown } = asked;
    const view = new PlotView({ ...shown, binding, services: this._services });
    this._onMade(view, isChosen);
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
