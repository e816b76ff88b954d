/** BokehJS in a page: what is used of it, and loading it once, from the dashboard's own server. */

import type { ITranslate } from '../text';

/** What is drawn on: pixels, or SVG with the same commands. */
export interface ICanvasLayer {
  readonly backend: 'canvas' | 'svg';
  readonly bbox: { readonly width: number; readonly height: number };
  readonly canvas: HTMLCanvasElement;
  readonly ctx: CanvasRenderingContext2D;
  readonly pixel_ratio: number;
  resize(width: number, height: number): void;
  to_blob(): Promise<Blob>;
}

/** A root's view; `export` gives its picture. */
export interface IBokehView {
  readonly model: object;
  export?(type: 'png' | 'svg', hidpi: boolean): ICanvasLayer;
  /** BokehJS 3.10 has gaps among them. */
  children_views?(): Iterable<IBokehView | null | undefined>;
  /** Its name in BokehJS 3.8. */
  children?(): Iterable<IBokehView | null | undefined>;
}

/** The view of a figure; none of this is in Bokeh's documents, but it is there in Bokeh 3. */
export interface IBokehFigureView extends IBokehView {
  readonly model: { readonly x_range: { reset(): void } };
  readonly el: HTMLElement;
  readonly canvas_view: { readonly events_el: HTMLElement };
  /** Puts a hint over the data for two seconds. */
  notify_about: (message: string) => void;
}

export interface IBokehModel {
  setv(values: object): void;
}

/** A change in a document, or several at once. */
export interface IBokehEvent {
  /** False for what came as a patch. */
  readonly sync: boolean;
  readonly attr?: string;
  readonly events?: readonly IBokehEvent[];
}

/** The buffers beside a document or a patch, by their ids. */
type Buffers = ReadonlyMap<string, ArrayBuffer>;

export interface IBokehDocument {
  get_model_by_name(name: string): IBokehModel | null;
  roots(): readonly object[];
  on_change(callback: (event: IBokehEvent) => void, hasBatches: true): void;
  remove_on_change(callback: (event: IBokehEvent) => void): void;
  create_json_patch(events: readonly IBokehEvent[]): object;
  apply_json_patch(patch: object, buffers: Buffers): void;
  clear(options?: { sync?: boolean }): void;
}

/** One version of the library. */
export interface IBokeh {
  readonly documents: IBokehDocument[];
  readonly embed: {
    add_document_standalone(doc: IBokehDocument, element: HTMLElement): Promise<IBokehView[]>;
  };
  require(module: 'document'): {
    Document: { from_json(json: object, events?: unknown[], buffers?: Buffers): IBokehDocument };
  };
  require(module: 'core/util/canvas'): {
    CanvasLayer: new (backend: ICanvasLayer['backend'], hidpi: boolean) => ICanvasLayer;
  };
}

/** What scripts take for the page's `window`: BokehJS puts itself there, and the versions it has. */
interface IRoot {
  Bokeh?: Readonly<Record<string, IBokeh | undefined>>;
}

/** A script may take this long; a busy kernel serves it late (ms). */
const LOAD_TIMEOUT_MS = 60_000;

/** Scripts on their way, each with what is `Bokeh` to it. */
const running = new Map<Element | null, IRoot>();

/** The page's own `Bokeh` meanwhile. */
let page: IRoot = {};

declare global {
  // eslint-disable-next-line @typescript-eslint/naming-convention, @typescript-eslint/no-empty-object-type -- the browser's own name
  interface Window extends IRoot {}
}

/**
 * Give a script a `window.Bokeh` of its own until the returned function is called.
 *
 * The page's is that of Panel, hvplot and Bokeh's own outputs, which go without what they need where
 * they find another. So everybody else, also a script that runs between ours, sees the page's.
 */
function isolate(script: Element, root: IRoot): () => void {
  if (running.size === 0) {
    page = 'Bokeh' in window ? { Bokeh: window.Bokeh } : {};
    const current = (): IRoot => running.get(document.currentScript) ?? page;
    Object.defineProperty(window, 'Bokeh', {
      configurable: true,
      get: () => current().Bokeh,
      set: (bokeh: IRoot['Bokeh']) => (current().Bokeh = bokeh)
    });
  }
  running.set(script, root);
  return () => {
    running.delete(script);
    if (running.size === 0) {
      delete window.Bokeh;
      Object.assign(window, page);
    }
  };
}

/** Run a script of our own origin; scripts asked for in one turn run in the order asked. */
function runScript(url: string, root: IRoot, trans: ITranslate): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement('script'), { src: url, async: false });
    const release = isolate(script, root);
    const fail = (): void =>
      reject(
        new Error(trans.__('The drawing library (BokehJS) did not arrive from the dashboard.'))
      );
    const timer = setTimeout(fail, LOAD_TIMEOUT_MS);
    script.onload = script.onerror = event => {
      clearTimeout(timer);
      release();
      return event instanceof Event && event.type === 'load' ? resolve() : fail();
    };
    document.head.append(script);
  });
}

/** Loads BokehJS; callers that ask for the same library share one load, and a failed one is retried. */
export class BokehLoader {
  constructor(private readonly _trans: ITranslate) {}

  /**
   * Return the library of a version, loading what there is not of it.
   *
   * The first path is the library, the others add to it. A path names the version of its file, so
   * that the same from two dashboards is loaded once, and each has its own models where those differ.
   *
   * @param urlOf - where the file of a path is, at once or when it has been fetched.
   */
  async load(
    version: string,
    paths: readonly string[],
    urlOf: (path: string) => string | Promise<string>
  ): Promise<IBokeh> {
    const [key = ''] = paths;
    const library = this._libraries.get(key) ?? { loads: new Map<string, Promise<void>>() };
    this._libraries.set(key, library);
    const run = (path: string, before: readonly Promise<void>[]): Promise<void> => {
      const url = urlOf(path);
      return typeof url === 'string'
        ? runScript(url, library, this._trans)
        : // What is fetched first must still run in this order.
          Promise.all([url, ...before]).then(([there]) => runScript(there, library, this._trans));
    };
    const loads: Promise<void>[] = [];
    for (const path of paths) {
      const load = library.loads.get(path) ?? run(path, [...loads]);
      library.loads.set(path, load);
      loads.push(load);
    }
    try {
      await Promise.all(loads);
    } catch (error) {
      this._libraries.delete(key); // a script that comes after one that failed ran without it
      throw error;
    }
    const bokeh = library.Bokeh?.[version];
    if (bokeh === undefined) {
      throw new Error(
        this._trans.__('The dashboard sent a drawing library other than BokehJS %1.', version)
      );
    }
    return bokeh;
  }

  private readonly _libraries = new Map<string, IRoot & { loads: Map<string, Promise<void>> }>();
}
