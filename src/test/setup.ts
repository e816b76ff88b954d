/** What jsdom lacks and Lab's packages expect of a browser. */

import { ReadableStream, TransformStream, WritableStream } from 'node:stream/web';
import { TextDecoder, TextEncoder } from 'node:util';

const page = globalThis as unknown as Record<string, unknown>; // the tests' own global object

page['TextDecoder'] ??= TextDecoder;
page['TextEncoder'] ??= TextEncoder;
page['ReadableStream'] ??= ReadableStream;
page['TransformStream'] ??= TransformStream;
page['WritableStream'] ??= WritableStream;
for (const name of ['Response', 'Request', 'Headers']) {
  page[name] ??= function (): void {}; // only named, never made
}
page['fetch'] ??= () => Promise.reject(new TypeError('no network in this test'));

if (typeof document !== 'undefined') {
  page['DragEvent'] ??= class extends MouseEvent {};
  page['ResizeObserver'] ??= class {
    observe(): void {} // nothing has a size
    disconnect(): void {}
  };
  page['PointerEvent'] ??= class extends MouseEvent {
    readonly pointerType: string;
    constructor(type: string, init: PointerEventInit = {}) {
      super(type, init);
      this.pointerType = init.pointerType ?? '';
    }
  };
  document.elementsFromPoint ??= () => [];
  document.elementFromPoint ??= () => null;
  page['requestIdleCallback'] ??= (run: () => void) => setTimeout(run);
  // Everything is seen at once, but for what a test hides.
  page['IntersectionObserver'] ??= class {
    constructor(private readonly _seen: (entries: { isIntersecting: boolean }[]) => void) {}
    observe(): void {
      this._seen([{ isIntersecting: true }]);
    }
    disconnect(): void {} // nothing to end
  };
}
if (typeof window !== 'undefined') {
  AbortSignal.timeout ??= () => new AbortController().signal; // no test waits that long
  Object.assign(navigator, { clipboard: {} }); // Lab warns about a browser without one
  window.matchMedia ??= () =>
    ({
      matches: false,
      addEventListener: () => undefined,
      addListener: () => undefined,
      removeListener: () => undefined
    }) as never; // only what Lab's packages touch
}

// A warning or an error that nobody expects fails the test in which it is said.
for (const level of ['error', 'warn'] as const) {
  // eslint-disable-next-line no-console -- that is the point
  console[level] = (...said: unknown[]): never => {
    throw new Error(`console.${level}: ${said.map(String).join(' ')}`);
  };
}
