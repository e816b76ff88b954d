import { BokehLoader, type IBokehModel, type IBokehSession } from '../plot/bokeh';
import { PlotSession } from '../plot/session';
import { english } from '../plot/text';
import { LOOK } from './plots';

describe('loading BokehJS', () => {
  let ran: string[];
  let broken: string | null;
  const run = (url: string): Promise<void> => {
    ran.push(url);
    if (url === broken) {
      return Promise.reject(new Error('It did not arrive.'));
    }
    window.Bokeh = { '3.9.2': { require: () => ({}) as never, documents: [] } };
    return Promise.resolve();
  };
  const urls = ['/d1/static/bokeh.min.js', '/d1/static/own.js'];
  const here = (path: string): string => path;

  beforeEach(() => {
    ran = [];
    broken = null;
    delete window.Bokeh;
  });

  it('happens once a version, whatever dashboard it comes from', async () => {
    const loader = new BokehLoader(english, run);
    await Promise.all([loader.load('3.9.2', urls, here), loader.load('3.9.2', urls, here)]);
    await loader.load('3.9.2', ['/d2/static/bokeh.min.js', '/d2/static/tables.js'], here);
    expect(ran).toEqual([...urls, '/d2/static/tables.js']);
  });

  it('is tried again after a failure, with all that came after it', async () => {
    const loader = new BokehLoader(english, run);
    broken = urls[0]!;
    await expect(loader.load('3.9.2', urls, here)).rejects.toThrow('did not arrive');
    broken = null;
    delete window.Bokeh;
    await loader.load('3.9.2', urls, here);
    expect(ran).toEqual([...urls, ...urls]);
  });

  it('refuses another version than the one that was announced', async () => {
    await expect(new BokehLoader(english, run).load('3.8.0', urls, here)).rejects.toThrow('3.8.0');
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
