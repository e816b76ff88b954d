/** BokehJS in a page: what is used of it, and loading it once, from the dashboard's own server. */

import type { ITranslate } from './text';

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
  readonly change: { connect(slot: () => void): boolean; disconnect(slot: () => void): boolean };
}

export interface IBokehDocument {
  get_model_by_name(name: string): IBokehModel | null;
  roots(): readonly object[];
  on_event(event: 'connection_lost', callback: () => void): void;
  clear(options?: { sync?: boolean }): void;
}

export interface IBokehSession {
  readonly document: IBokehDocument;
  close(): void;
}

export interface IBokehConnection {
  readonly socket: Pick<WebSocket, 'readyState'> | null;
  /** Send a message of Bokeh's protocol; a patch has events. */
  send(message: { readonly content: { events?: { readonly attr?: string }[] | undefined } }): void;
  connect(): Promise<IBokehSession>;
  close(): void;
}

/** One version of the library. */
export interface IBokeh {
  readonly documents: IBokehDocument[];
  require(module: 'client/connection'): {
    ClientConnection: new (url: string, token: string, query: string) => IBokehConnection;
  };
  require(module: 'document'): {
    Document: { from_json(json: object): IBokehDocument };
  };
  require(module: 'core/util/canvas'): {
    CanvasLayer: new (backend: ICanvasLayer['backend'], hidpi: boolean) => ICanvasLayer;
  };
  require(module: 'embed'): {
    add_document_standalone(doc: IBokehDocument, element: HTMLElement): Promise<IBokehView[]>;
  };
}

declare global {
  // eslint-disable-next-line @typescript-eslint/naming-convention -- the browser's own name
  interface Window {
    /** BokehJS itself; of what it has, only the versions that live side by side under their number. */
    Bokeh?: Readonly<Record<string, IBokeh | undefined>>;
  }
}

/** Run a script of our own origin; scripts asked for in one turn run in the order asked. */
function runScript(url: string, trans: ITranslate): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement('script'), { src: url, async: false });
    script.onload = () => resolve();
    script.onerror = () =>
      reject(
        new Error(trans.__('The drawing library (BokehJS) did not arrive from the dashboard.'))
      );
    document.head.append(script);
  });
}

/** Loads BokehJS; callers that ask for the same script share one load, and a failed one is retried. */
export class BokehLoader {
  constructor(
    private readonly _trans: ITranslate,
    private readonly _run: typeof runScript = runScript
  ) {}

  /**
   * Return the library of a version, loading what the page lacks of it.
   *
   * The first path is the library, the others add to it. They are told apart by their file name, so
   * that the same version from two dashboards is loaded once.
   *
   * @param urlOf - where the file of a path is, at once or when it has been fetched.
   */
  async load(
    version: string,
    paths: readonly string[],
    urlOf: (path: string) => string | Promise<string>
  ): Promise<IBokeh> {
    const loads: Promise<void>[] = [];
    for (const [i, path] of paths.entries()) {
      const key = `${version}/${path.slice(path.lastIndexOf('/') + 1)}`;
      const isThere = i === 0 && window.Bokeh?.[version] !== undefined;
      const before = [...loads];
      const run = (): Promise<void> => {
        const url = urlOf(path);
        return typeof url === 'string'
          ? this._run(url, this._trans)
          : // What is fetched first must still run in this order.
            Promise.all([url, ...before]).then(([there]) => this._run(there, this._trans));
      };
      const load = this._loads.get(key) ?? (isThere ? Promise.resolve() : run());
      this._loads.set(key, load);
      loads.push(load);
    }
    const results = await Promise.allSettled(loads);
    if (results.some(({ status }) => status === 'rejected')) {
      this._loads.clear(); // a script that comes after one that failed ran without it
    }
    await Promise.all(loads);
    const bokeh = window.Bokeh?.[version];
    if (bokeh === undefined) {
      throw new Error(
        this._trans.__('The dashboard sent a drawing library other than BokehJS %1.', version)
      );
    }
    return bokeh;
  }

  private readonly _loads = new Map<string, Promise<void>>();
}
