import { BokehLoader, type IBokehModel, type IBokehSession } from '../plot/bokeh';
import { PlotSession } from '../plot/session';
import { english } from '../plot/text';
import { LOOK } from './plots';

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
  class Control implements IBokehModel {
    state = 'live';
    open = '';
    readonly values: Record<string, unknown>[] = [];
    listener = (): void => undefined;
    readonly change = {
      connect: (slot: () => void): boolean => {
        this.listener = slot;
        return true;
      },
      disconnect: (): boolean => true
    };
    setv(values: Record<string, unknown>): void {
      this.values.push(values);
    }
  }

  function open(control: Control | null): { session: PlotSession; log: string[]; lose(): void } {
    const log: string[] = [];
    let lose = (): void => undefined;
    const document = {
      get_model_by_name: () => control,
      roots: () => [],
      on_event: (_: string, callback: () => void) => (lose = callback),
      clear: () => log.push('clear')
    };
    const bokeh = { documents: [document], require: () => ({}) as never };
    const raw: IBokehSession = { document, close: () => log.push('close') };
    return { session: new PlotSession(bokeh, raw, english), log, lose: () => lose() };
  }

  it('is told what the page asks for, and nothing after its end', () => {
    const control = new Control();
    const { session, lose, log } = open(control);
    const onClosed = jest.fn();
    session.onClosed = onClosed;
    session.setVisible(false);
    session.send('freeze');
    session.send('set', { bars: 'group' });
    expect(control.values).toEqual([
      { visible: false },
      { command: '{"verb":"freeze","n":1}' },
      { command: '{"verb":"set","n":2,"arguments":{"bars":"group"}}' }
    ]);
    lose();
    session.setLook(LOOK);
    expect(control.values).toHaveLength(3);
    expect(onClosed).toHaveBeenCalledTimes(1);
    session.dispose();
    expect(log).toEqual(['close', 'close', 'clear']);
  });

  it('tells of a click that asks for another plot once', () => {
    const control = new Control();
    const { session } = open(control);
    const onOpening = jest.fn();
    session.onOpening = onOpening;
    control.open = '{"plot": "profile", "arguments": {}, "n": 1}';
    control.listener();
    control.listener();
    expect(onOpening.mock.calls).toEqual([[{ plot: 'profile', arguments: {}, n: 1 }]]);
  });

  it('of another version is refused', () => {
    expect(() => open(null)).toThrow('another version of dask_diag_lab');
  });
});
