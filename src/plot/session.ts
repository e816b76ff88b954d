/** One plot's live document: asked for, drawn natively, followed, closed without a trace. */

import {
  CONTROL_NAME,
  Control,
  documentOf,
  fieldsOf,
  type IPlotTheme,
  type IPlotLink,
  type ISelection,
  type PlotArguments
} from '../protocol/control';
import type { ITranslate } from '../text';
import type { IPlotServer } from '../transport/remote';
import type { IMessage, StreamedPlot } from '../transport/stream';
import type {
  BokehLoader,
  IBokeh,
  IBokehDocument,
  IBokehEvent,
  IBokehFigureView,
  IBokehModel,
  IBokehView,
  ICanvasLayer
} from './bokeh';
import { pictureOf } from './picture';

/** What a page asks of the view behind its picture; a view ignores what means nothing to it. */
export type PlotCommand =
  'zoom-in' | 'zoom-out' | 'pan-left' | 'pan-right' | 'fit' | 'live' | 'freeze' | 'clear';

/**
 * Open the live document of a plot.
 *
 * @param signal - nobody waits for it any more: a websocket that waits for its answer keeps Chromium
 * from opening others to the same server.
 */
export async function openSession(
  server: IPlotServer,
  loader: BokehLoader,
  trans: ITranslate,
  plot: string,
  theme: IPlotTheme,
  given: PlotArguments,
  signal: AbortSignal
): Promise<PlotSession> {
  const opened = server.stream.open({ plot, look: theme, arguments: given });
  const giveUp = (): void => opened.close();
  signal.addEventListener('abort', giveUp);
  try {
    const { fields, buffers } = await opened.document;
    const { document: json, bokeh: version, scripts } = documentOf(fields);
    const bokeh = await loader.load(version, scripts, script => server.url(script));
    const document = bokeh.require('document').Document.from_json(json, [], buffers);
    return new PlotSession(bokeh, document, trans, opened);
  } catch (error) {
    opened.close();
    throw error;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

/** What BokehJS writes into a figure at each layout. */
const SIZE = /^(inner|outer)_(width|height)$/;

/** A document, and where there is a stream, what both sides make of it. */
export class PlotSession {
  constructor(
    private readonly _bokeh: IBokeh,
    private readonly _document: IBokehDocument,
    private readonly _trans: ITranslate,
    private readonly _stream: StreamedPlot | null = null
  ) {
    this._model = _document.get_model_by_name(CONTROL_NAME);
    if (this._model === null) {
      this.dispose();
      throw new Error(_trans.__('The dashboard is of another version of dask_diag_lab.'));
    }
    this.control = new Control(this._model);
    this._lastLink = this.control.open?.n;
    _document.on_change(this._send, true);
    _stream?.follow(this._take, () => this.onClosed());
  }

  /** The server said something new. */
  onChanged: () => void = () => undefined;
  /** The connection ended, and not by `dispose`. */
  onClosed: () => void = () => undefined;
  /** A click in the picture asked for another plot. */
  onLink: (link: IPlotLink) => void = () => undefined;

  /** What the server says now. */
  control = new Control({});

  /** False once the connection ended. */
  get isOpen(): boolean {
    return this._stream?.isOpen ?? true;
  }

  async draw(element: HTMLElement): Promise<void> {
    this._views = [...(await this._bokeh.embed.add_document_standalone(this._document, element))];
    this._figures = [...viewsIn(this._views)].filter(isFigure);
    fitFigures(this._figures);
  }

  setVisible(isVisible: boolean): void {
    this._model?.setv({ visible: isVisible });
  }

  setTheme(theme: IPlotTheme): void {
    this._model?.setv({ look: JSON.stringify(theme) });
  }

  /** Ask something of the view: a verb, `show` with arguments, or `set` with controls' values. */
  send(verb: PlotCommand | 'show' | 'set', given?: Readonly<Record<string, string>>): void {
    this._commands += 1;
    const command = { verb, n: this._commands, ...(given ? { arguments: given } : {}) };
    this._model?.setv({ command: JSON.stringify(command) });
  }

  /** Have all plots of the page show a run or a stretch of time, until that is null. */
  select(selection: ISelection | null): void {
    this._stream?.stream.select(selection);
  }

  /** Whether there is a picture to save; a table is none. */
  get isPictured(): boolean {
    return [...viewsIn(this._views)].some(view => isFigure(view) || 'paint_now' in view);
  }

  /** The picture with its headline and legend. */
  async picture(title: string, theme: IPlotTheme, type: 'png' | 'svg'): Promise<Blob> {
    const picture = this._export(type, true);
    if (picture === undefined) {
      throw new Error(this._trans.__('There is no picture yet.'));
    }
    const layer = pictureOf(this._bokeh, picture, title, this.control.legend, theme);
    return layer.to_blob().catch(() => {
      throw new Error(this._trans.__('The picture is too large.'));
    });
  }

  /** The same at once, as PNG in base64 of so many characters at most; '' of a table. */
  snapshot(title: string, theme: IPlotTheme, longest: number): string {
    const picture = this.isPictured ? this._export('png', false) : undefined;
    for (let zoom = 1; picture !== undefined; zoom *= 0.7) {
      const layer = pictureOf(this._bokeh, picture, title, this.control.legend, theme, zoom);
      const [, base64 = ''] = layer.canvas.toDataURL().split(',');
      if (base64.length <= longest) {
        return base64;
      }
    }
    return '';
  }

  dispose(): void {
    this._document.remove_on_change(this._send);
    this._stream?.close();
    this._document.clear({ sync: false });
    const index = this._bokeh.documents.indexOf(this._document);
    if (index >= 0) {
      this._bokeh.documents.splice(index, 1); // Bokeh keeps every document it ever made
    }
  }

  private _export(type: 'png' | 'svg', hidpi: boolean): ICanvasLayer | undefined {
    const roots = this._document.roots();
    const view = this._views.find(one => one.export !== undefined && roots.includes(one.model));
    return view?.export?.(type, hidpi);
  }

  /** Send what the reader does, not what a resize changes, which the kernel has no use for. */
  private readonly _send = (event: IBokehEvent): void => {
    const events = (event.events ?? [event]).filter(
      ({ sync, attr }) => sync && !SIZE.test(attr ?? '')
    );
    if (event.sync && events.length > 0 && this._stream?.isOpen) {
      this._stream.send(this._document.create_json_patch(events));
    }
  };

  private readonly _take = ({ fields, buffers }: IMessage): void => {
    this._document.apply_json_patch(fieldsOf(fields['patch'], 'patch'), buffers);
    // Once for all that one update says: each property has an event of its own.
    this.control = new Control(this._model ?? {});
    const { open } = this.control;
    if (open !== null && open.n !== this._lastLink) {
      this._lastLink = open.n;
      this.onLink(open);
    }
    this.onChanged();
  };

  private readonly _model: IBokehModel | null;
  private _views: readonly IBokehView[] = [];
  protected _figures: readonly IBokehFigureView[] = [];
  private _commands = 0;
  private _lastLink: number | undefined;
}

/** A document that was saved: nobody answers what is asked of it. */
export class SavedSession extends PlotSession {
  constructor(bokeh: IBokeh, json: object, trans: ITranslate) {
    const { Document } = bokeh.require('document');
    super(bokeh, Document.from_json(json), trans);
  }

  override send(verb: PlotCommand | 'show' | 'set'): void {
    if (verb === 'fit') {
      this._figures.forEach(({ model }) => model.x_range.reset());
    }
  }
}

/**
 * Fit a picture's figures into a page of ours.
 *
 * They lay no hints about wheels over their data. The plot around them has a name and the keys:
 * another stop of the Tab key has neither.
 */
function fitFigures(figures: readonly IBokehFigureView[]): void {
  for (const view of figures) {
    view.notify_about = () => undefined;
    view.el.style.setProperty('background-color', 'transparent', 'important'); // Bokeh's is white
    view.canvas_view.events_el.tabIndex = -1;
  }
}

/** All views among some and in them. */
function* viewsIn(views: Iterable<IBokehView | null | undefined>): Iterable<IBokehView> {
  for (const view of views) {
    if (view) {
      yield view;
      yield* viewsIn(view.children_views?.() ?? view.children?.() ?? []);
    }
  }
}

function isFigure(view: IBokehView): view is IBokehFigureView {
  return 'notify_about' in view && 'canvas_view' in view;
}
