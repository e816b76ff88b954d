import {
  BokehLoader,
  type IBokehDocument,
  type IBokehEvent,
  type IBokehModel
} from '../plot/bokeh';
import { openSession, type PlotSession } from '../plot/session';
import { PlotStream } from '../transport/stream';
import { english } from '../text';
import { FakeTransport, THEME } from './plots';

describe('loading BokehJS', () => {
  const page: { Bokeh?: unknown } = window as object; // of somebody else
  const own = ['static/bokeh.js?v=1', 'static/own.js?v=1'];
  const other = ['static/bokeh.js?v=2', 'static/own.js?v=2'];
  const library = (): object => ({ '3.9.2': { require: () => ({}), documents: [] } });
  let loader: BokehLoader;
  const load = (dashboard: string, paths: readonly string[]): ReturnType<BokehLoader['load']> =>
    loader.load('3.9.2', paths, path => `http://lab/${dashboard}/${path}`);
  /** What the page was asked to run and has not yet; a browser of tests fetches nothing. */
  const scripts = (): HTMLScriptElement[] => [...document.querySelectorAll('script')];
  const run = (script: HTMLScriptElement, made: object): void => {
    const current = jest.spyOn(document, 'currentScript', 'get').mockReturnValue(script);
    page.Bokeh ??= made; // as BokehJS does
    current.mockRestore();
    script.dispatchEvent(new Event('load'));
    script.remove();
  };
  const runAll = (made = library()): void => scripts().forEach(script => run(script, made));

  beforeEach(() => {
    document.head.replaceChildren();
    loader = new BokehLoader(english);
    delete page.Bokeh;
  });

  it('happens once a version, whatever dashboard it comes from', async () => {
    const both = [load('d1', own), load('d1', own)];
    const [one, same] = [scripts(), Promise.all(both)];
    runAll();
    await same;
    expect(one.map(({ src }) => src)).toEqual(own.map(path => `http://lab/d1/${path}`));
    const third = load('d2', [own[0]!, 'static/tables.js?v=1']);
    expect(scripts().map(({ src }) => src)).toEqual(['http://lab/d2/static/tables.js?v=1']);
    runAll();
    expect(await third).toBe((await same)[0]);
  });

  it('keeps versions apart, each with its own models', async () => {
    const loads = [load('d1', own), load('d2', other)];
    scripts().forEach(script => run(script, library()));
    const [one, two] = await Promise.all(loads);
    expect(one).not.toBe(two);
  });

  it.each([{}, { Bokeh: { version: '3.4.0' } }])('leaves the page what it had: %p', async had => {
    Object.assign(page, had);
    const loading = load('d1', own);
    const [first] = scripts();
    run(first!, library());
    expect(page.Bokeh).toBe(had.Bokeh);
    const theirs = { version: '3.9.2' };
    page.Bokeh = theirs; // by a script of theirs between ours
    runAll();
    expect(await loading).not.toBe(theirs);
    expect(Object.getOwnPropertyDescriptor(page, 'Bokeh')?.value).toBe(theirs);
    delete page.Bokeh;
    expect('Bokeh' in page).toBe(false);
  });

  it('is tried again after a failure, with all that came after it', async () => {
    const loading = load('d1', own);
    scripts()[0]!.dispatchEvent(new Event('error'));
    await expect(loading).rejects.toThrow('did not arrive');
    document.head.replaceChildren();
    const again = load('d1', own);
    expect(scripts()).toHaveLength(2);
    runAll();
    await again;
  });

  it('does not wait for ever', async () => {
    jest.useFakeTimers();
    const loading = load('d1', own);
    jest.runAllTimers();
    jest.useRealTimers();
    await expect(loading).rejects.toThrow('did not arrive');
  });

  it('refuses another version than the one that was announced', async () => {
    const loading = loader.load('3.8.0', own, path => path);
    runAll();
    await expect(loading).rejects.toThrow('3.8.0');
  });
});

describe('a live document', () => {
  class Model implements IBokehModel {
    state = 'live';
    open = '';
    readonly values: Record<string, unknown>[] = [];
    setv(values: Record<string, unknown>): void {
      this.values.push(values);
    }
  }

  /** Of a document, as much as is used of one. */
  class FakeDocument implements IBokehDocument {
    constructor(private readonly _model: Model | null) {}

    readonly patches: unknown[] = [];
    isClear = false;
    change: (event: IBokehEvent) => void = () => undefined;

    get_model_by_name(): Model | null {
      return this._model;
    }
    roots(): readonly object[] {
      return [];
    }
    on_change(callback: (event: IBokehEvent) => void): void {
      this.change = callback;
    }
    remove_on_change(): void {
      this.change = () => undefined;
    }
    create_json_patch(events: readonly IBokehEvent[]): object {
      return { events: events.map(({ attr }) => ({ attr, new: { to_base64: () => 'AAA=' } })) };
    }
    apply_json_patch(patch: object, buffers: ReadonlyMap<string, ArrayBuffer>): void {
      this.patches.push([patch, [...buffers.keys()]]);
    }
    clear(): void {
      this.isClear = true;
    }
  }

  const transport = new FakeTransport();
  let model: Model;
  let document: FakeDocument;
  let stream: PlotStream;

  beforeEach(() => {
    model = new Model();
    document = new FakeDocument(model);
    transport.sent.length = 0;
    stream = new PlotStream(transport.connect, english);
  });

  async function open(
    isAnswered = true,
    signal = new AbortController().signal
  ): Promise<PlotSession> {
    const bokeh = {
      documents: [document],
      require: () => ({ Document: { from_json: () => document } }) as never
    };
    const loader = { load: () => Promise.resolve(bokeh) } as unknown as BokehLoader; // all of it
    const server = { get: () => Promise.reject(new Error()), url: (path: string) => path, stream };
    const opening = openSession(server, loader, english, 'progress', THEME, {}, signal);
    const { id } = transport.sent.at(-1) as { id: string };
    const scripts = ['static/js/bokeh.js'];
    if (isAnswered) {
      // What comes while the library is loaded is not lost.
      transport.say(
        { type: 'document', id, document: {}, bokeh: '3.9.2', scripts },
        { type: 'patch', id, patch: { events: [] }, buffers: [['b', 3]] }
      );
    }
    return opening;
  }

  it('is told what the page asks for, and nothing after its end', async () => {
    const session = await open();
    const onClosed = jest.fn();
    session.onClosed = onClosed;
    expect(document.patches).toEqual([[{ events: [] }, ['b']]]);
    session.setVisible(false);
    session.send('freeze');
    session.send('set', { bars: 'group' });
    expect(model.values).toEqual([
      { visible: false },
      { command: '{"verb":"freeze","n":1}' },
      { command: '{"verb":"set","n":2,"arguments":{"bars":"group"}}' }
    ]);
    transport.end('bye');
    const sent = transport.sent.length;
    document.change({ sync: true, attr: 'look' });
    expect(transport.sent).toHaveLength(sent);
    expect(onClosed).toHaveBeenCalledTimes(1);
    session.dispose();
    expect(document.isClear).toBe(true);
  });

  it('sends what the reader does, arrays as base64, and neither sizes nor what came', async () => {
    await open();
    document.change({ sync: true, attr: 'inner_width' });
    document.change({ sync: false, attr: 'start' });
    document.change({ sync: false, events: [{ sync: true, attr: 'start' }] });
    const sizes = { sync: true, attr: 'outer_height' };
    document.change({ sync: true, events: [sizes, { sync: true, attr: 'end' }] });
    const patch = { events: [{ attr: 'end', new: 'AAA=' }] };
    expect(transport.sent.slice(1)).toEqual([{ type: 'patch', id: '1', patch }]);
  });

  it('reads what the server says of it once an update, and tells of a click once', async () => {
    const session = await open();
    const [onChanged, onLink] = [jest.fn(), jest.fn()];
    Object.assign(session, { onChanged, onLink });
    model.open = '{"plot": "profile", "arguments": {}, "n": 1}';
    const patch = { events: [{ attr: 'open' }, { attr: 'note' }] };
    for (let i = 0; i < 2; i += 1) {
      transport.say({ type: 'patch', id: '1', patch });
    }
    expect(onChanged).toHaveBeenCalledTimes(2);
    expect(onLink.mock.calls).toEqual([[{ plot: 'profile', arguments: {}, n: 1 }]]);
  });

  it('that is given up leaves no connection, not even one that never opens', async () => {
    const [drawn, waiting] = [new AbortController(), new AbortController()];
    await open(true, drawn.signal);
    drawn.abort(); // it is there: a later attempt is another's
    expect(transport.isOpen).toBe(true);
    transport.end('');
    const opening = open(false, waiting.signal);
    waiting.abort();
    await expect(opening).rejects.toThrow();
    expect(transport.isOpen).toBe(false);
  });

  it('of another version is refused', async () => {
    document = new FakeDocument(null);
    await expect(open()).rejects.toThrow('another version of dask_diag_lab');
  });
});

describe('the stream of a dashboard', () => {
  const request = { plot: 'progress', look: {}, arguments: {} };
  let transport: FakeTransport;
  let stream: PlotStream;

  beforeEach(() => {
    transport = new FakeTransport();
    stream = new PlotStream(transport.connect, english);
  });

  it('is one connection from the first plot to the last, and a new one after its end', async () => {
    const plots = [stream.open(request), stream.open(request)];
    expect(transport.connections).toBe(1);
    plots.forEach(plot => plot.close());
    expect([transport.isOpen, transport.sent.at(-1)]).toEqual([false, { type: 'close', id: '2' }]);
    const next = stream.open(request);
    transport.end('');
    await expect(next.document).rejects.toThrow('The connection ended.');
    stream.open(request);
    expect(transport.connections).toBe(3);
  });

  it('has one stretch of time, also after it was cut, until its last plot is closed', () => {
    const ofPeriods = (): unknown[] =>
      transport.sent.filter(one => (one as { type: string }).type === 'period');
    stream.open(request);
    stream.select({ start: 1, stop: 4 });
    transport.end('');
    const plot = stream.open(request);
    const period = { type: 'period', start: 1, stop: 4 };
    expect(ofPeriods()).toEqual([period, period]);
    plot.close();
    stream.open(request);
    stream.select(null);
    expect(ofPeriods()).toEqual([period, period, { type: 'period' }]);
  });

  it('says why one plot cannot be opened, and goes on with the others', async () => {
    const [one, other] = [stream.open(request), stream.open(request)];
    transport.say({ type: 'error', id: '1', reason: 'There is no plot.' });
    await expect(one.document).rejects.toThrow('There is no plot.');
    expect([one.isOpen, other.isOpen]).toEqual([false, true]);
  });

  it('goes on after a patch that BokehJS does not like', () => {
    const errors = jest.fn();
    Object.assign(globalThis, { reportError: errors });
    const [one, other] = [stream.open(request), stream.open(request)];
    const take = jest.fn();
    one.follow(
      () => {
        throw new Error('BokehJS does not like it.');
      },
      () => undefined
    );
    other.follow(take, () => undefined);
    transport.say({ type: 'patch', id: '1' }, { type: 'patch', id: '2' });
    expect([errors, take].map(one => one.mock.calls.length)).toEqual([1, 1]);
    expect(one.isOpen).toBe(true);
  });

  it('ends where what comes cannot be read, or nothing comes', async () => {
    Object.assign(globalThis, { reportError: () => undefined });
    const first = stream.open(request);
    transport.receiver!.onFrame(new ArrayBuffer(7));
    await expect(first.document).rejects.toThrow('cannot be read');
    jest.useFakeTimers();
    const silent = stream.open(request);
    jest.advanceTimersByTime(60_000);
    jest.useRealTimers();
    await expect(silent.document).rejects.toThrow('does not answer');
    expect(transport.isOpen).toBe(false);
  });
});
