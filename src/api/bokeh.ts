/** BokehJS as we use it, and its loader: each version once a page, from the dashboard's own server. */

import type { ITranslate } from './words';

/** A root's view; `export` gives its picture. */
export interface IBokehView {
  readonly model: object;
  export?(type: 'png', hidpi: boolean): { readonly canvas: HTMLCanvasElement };
  /** BokehJS 3.10 has gaps among them. */
  children_views?(): Iterable<IBokehView | null | undefined>;
}

/** The view of a figure; none of this is in Bokeh's documents, but it is there in Bokeh 3. */
export interface IBokehFigureView extends IBokehView {
  readonly model: {
    readonly properties: Readonly<
      Record<string, { readonly change: { connect(slot: () => void): boolean } } | undefined>
    >;
  };
  readonly el: HTMLElement;
  readonly canvas_view: {
    readonly primary: { readonly canvas: unknown };
    readonly overlays: { readonly canvas: unknown };
    readonly events_el: HTMLElement;
  };
  /** Puts a hint over the data for two seconds. */
  notify_about: (message: string) => void;
}

export interface IBokehModel {
  setv(values: object, options?: { sync?: boolean }): void;
  readonly change: {
    connect(slot: () => void): boolean;
    disconnect(slot: () => void): boolean;
  };
}

export interface IBokehDocument {
  readonly config?: IBokehModel;
  get_model_by_name(name: string): IBokehModel | null;
  roots(): readonly object[];
  _trigger_on_change(event: unknown): void;
  clear(options?: { sync?: boolean }): void;
}

export interface IBokehSession {
  readonly document: IBokehDocument;
  close(): void;
}

/** Members with an underscore are not in Bokeh's documents, but there in all of Bokeh 3. */
export interface IBokehConnection {
  readonly socket: WebSocket | null;
  session: IBokehSession | null;
  connect(): Promise<IBokehSession>;
  /** Called for a message that cannot be understood; nothing after it can be either. */
  _close_bad_protocol: (detail: string) => void;
  /** Called after the server's greeting; `resolve` ends `connect`. */
  _repull_session_doc: (resolve: (session: IBokehSession) => void) => void;
}

interface IBokehModules {
  'client/connection': {
    ClientConnection: new (url: string, token: string, query: string) => IBokehConnection;
  };
  'client/session': {
    ClientSession: new (connection: IBokehConnection, document: IBokehDocument) => IBokehSession;
  };
  'document/document': {
    Document: { from_json(json: object, events: unknown[]): IBokehDocument };
  };
  embed: {
    add_document_standalone(
      document: IBokehDocument,
      element: HTMLElement
    ): Promise<Iterable<IBokehView>>;
  };
}

/** One version of the library. */
export interface IBokeh {
  readonly version: string;
  readonly documents: IBokehDocument[];
  require<K extends keyof IBokehModules>(module: K): IBokehModules[K];
}

/** Where BokehJS puts itself; versions live side by side under their number. */
export interface IBokehPage {
  Bokeh?: Readonly<Record<string, unknown>>;
}

declare global {
  // eslint-disable-next-line @typescript-eslint/naming-convention -- the browser's own name
  interface Window {
    Bokeh?: Readonly<Record<string, unknown>>;
  }
}

/** Runs one script in the page, once it is there; rejects when it does not arrive. */
export type ScriptRunner = (url: string, trans: ITranslate) => Promise<void>;

/** Run a script of our own origin; scripts asked for in one turn run in the order asked. */
export function runScript(url: string, trans: ITranslate): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = url;
    script.async = false;
    script.onload = () => resolve();
    script.onerror = () => {
      script.remove();
      reject(
        new Error(trans.__('The drawing library (BokehJS) did not arrive from the dashboard.'))
      );
    };
    document.head.append(script);
  });
}

/** A page that is busy for longer than this is told to do it all the same (ms). */
const IDLE_MS = 2000;

/** Loads BokehJS; callers that ask for the same script share one load, and a failed one is retried. */
export class BokehLoader {
  constructor(
    private readonly _page: IBokehPage,
    private readonly _trans: ITranslate,
    private readonly _run: ScriptRunner = runScript
  ) {}

  /**
   * Return the library of a version, loading what the page lacks of it.
   *
   * `urls` are absolute; the first is the library, the others add to it. They are told apart by
   * their file name, so that the same version from two dashboards is loaded once.
   */
  async load(version: string, urls: readonly string[]): Promise<IBokeh> {
    await this._together(version, urls, urls[0]);
    const bokeh = this._page.Bokeh?.[version];
    if (!isBokeh(bokeh)) {
      throw new Error(
        this._trans.__('The dashboard sent a drawing library other than BokehJS %1.', version)
      );
    }
    return bokeh;
  }

  /** Load what adds to a library that is there, when the page has nothing else to do. */
  loadWhenIdle(version: string, urls: readonly string[]): void {
    const load = (): void => {
      this._together(version, urls).catch(() => undefined); // whoever needs them tries again
    };
    if (typeof requestIdleCallback === 'function') {
      requestIdleCallback(load, { timeout: IDLE_MS });
    } else {
      setTimeout(load, IDLE_MS); // Safari
    }
  }

  /** A script that comes after one that failed ran without it: both are loaded again next time. */
  private async _together(
    version: string,
    urls: readonly string[],
    library?: string
  ): Promise<void> {
    const started = urls.filter(url => !this._loads.has(keyOf(version, url)));
    const loads = urls.map(url => this._once(version, url, url === library));
    const results = await Promise.allSettled(loads);
    const failed = results.findIndex(({ status }) => status === 'rejected');
    for (const url of failed < 0 ? [] : urls.slice(failed)) {
      if (started.includes(url)) {
        this._loads.delete(keyOf(version, url));
      }
    }
    await Promise.all(loads);
  }

  private _once(version: string, url: string, isLibrary: boolean): Promise<void> {
    const key = keyOf(version, url);
    const known = this._loads.get(key);
    if (known !== undefined) {
      return known;
    }
    const isThere = isLibrary && isBokeh(this._page.Bokeh?.[version]);
    const load = isThere ? Promise.resolve() : this._run(url, this._trans);
    this._loads.set(key, load);
    return load;
  }

  private readonly _loads = new Map<string, Promise<void>>();
}

function keyOf(version: string, url: string): string {
  return `${version}/${url.slice(url.lastIndexOf('/') + 1)}`;
}

function isBokeh(value: unknown): value is IBokeh {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  return 'require' in value && typeof value.require === 'function' && 'version' in value;
}
