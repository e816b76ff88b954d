/**
 * A live plot as a cell's output; it goes on with its notebook's next cluster.
 *
 * When the notebook is saved, a picture of it is put beside it, for whoever opens the notebook where
 * there is no such cluster, or no such extension.
 */

import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import { JSONExt } from '@lumino/coreutils';
import { PanelLayout, Widget } from '@lumino/widgets';

import { isText } from '../protocol/control';
import { plotOutputOf } from '../protocol/dashboard';
import { h } from '../text';
import { MimeTypes } from '../tokens';
import { PlotWidget } from './plotwidget';
import type { IPlotServices } from './services';

export class OutputPlot extends Widget implements IRenderMime.IRenderer {
  constructor(
    private readonly _services: IPlotServices,
    private readonly _resolver: IRenderMime.IResolver | null,
    /** Called with each plot before it is shown. */
    private readonly _onMade: (plot: PlotWidget) => void
  ) {
    super();
    this.addClass('jp-DaskDiag-output');
    this.layout = this._content;
  }

  renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    const last = this._model?.data[MimeTypes.plot];
    this._model = model;
    if (last !== undefined && JSONExt.deepEqual(last, model.data[MimeTypes.plot] ?? null)) {
      return Promise.resolve(); // its picture was kept, here or by somebody else
    }
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
    this._plot = plot;
    const { 'image/png': image, 'text/plain': text } = model.data;
    if (isText(text) && !('text/html' in model.data)) {
      const saved = this._services.trans.__('Saved with the notebook: %1', text);
      const src = `data:image/png;base64,${String(image)}`;
      const picture = isText(image) ? [h('img', { src, alt: text })] : []; // none of a table
      // The first picture of now takes its place.
      plot.node.querySelector('.jp-DaskDiag-stage')?.append(h('figure', {}, ...picture, saved));
    }
    return Promise.resolve();
  }

  /** Put the picture of now into the output of a notebook that is about to be saved. */
  keep(_: unknown, saveState: string): void {
    if (saveState !== 'started' || this._model === null) {
      return;
    }
    const { [MimeTypes.plot]: shown, 'text/plain': text, 'image/png': image } = this._model.data;
    const same = this._plot?.live.snapshot(String(text));
    if (same && same['text/plain'] === text && same['image/png'] === image) {
      return; // with another time it would be another file
    }
    const snapshot = this._plot?.live.snapshot();
    if (snapshot) {
      // Without HTML, which others would show in the place of the picture.
      this._model.setData({ data: { [MimeTypes.plot]: shown, ...snapshot } });
    }
  }

  private _model: IRenderMime.IMimeModel | null = null;
  private _plot: PlotWidget | null = null;
  private readonly _content = new PanelLayout();
}
