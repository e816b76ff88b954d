import { BokehLoader, type IBokehPage } from '../api/bokeh';
import { trans } from './dashboards';

function library(version: string): Record<string, unknown> {
  return { version, documents: [], require: () => ({}) };
}

/** A page that runs scripts when the test says so. */
class Page {
  readonly page: IBokehPage = {};
  readonly asked: string[] = [];
  fails = false;

  run = (url: string): Promise<void> => {
    this.asked.push(url);
    if (this.fails) {
      return Promise.reject(new Error('did not arrive'));
    }
    const version = /\/(\d[\d.]*)\//.exec(url)?.[1] ?? '';
    this.page.Bokeh = { ...this.page.Bokeh, [version]: library(version) };
    return Promise.resolve();
  };
}

describe('the loader of BokehJS', () => {
  it('loads a version once, also for callers that ask at the same time', async () => {
    const { page, asked, run } = new Page();
    const loader = new BokehLoader(page, trans, run);
    const all = await Promise.all([
      loader.load('3.9.2', ['/a/3.9.2/bokeh.min.js']),
      loader.load('3.9.2', ['/b/3.9.2/bokeh.min.js']),
      loader.load('3.9.2', ['/a/3.9.2/bokeh.min.js', '/a/3.9.2/bokeh-tables.min.js'])
    ]);
    expect(new Set(all).size).toBe(1);
    expect(asked).toEqual(['/a/3.9.2/bokeh.min.js', '/a/3.9.2/bokeh-tables.min.js']);
  });

  it('keeps versions side by side', async () => {
    const { page, run } = new Page();
    const loader = new BokehLoader(page, trans, run);
    const older = await loader.load('3.8.0', ['/a/3.8.0/bokeh.min.js']);
    const newer = await loader.load('3.9.2', ['/a/3.9.2/bokeh.min.js']);
    expect([older.version, newer.version]).toEqual(['3.8.0', '3.9.2']);
  });

  it('takes a library that somebody else has loaded', async () => {
    const { page, asked, run } = new Page();
    page.Bokeh = { '3.9.2': library('3.9.2') };
    await new BokehLoader(page, trans, run).load('3.9.2', ['/a/3.9.2/bokeh.min.js']);
    expect(asked).toEqual([]);
  });

  it('tries a failed load again', async () => {
    const page = new Page();
    const loader = new BokehLoader(page.page, trans, page.run);
    page.fails = true;
    await expect(loader.load('3.9.2', ['/a/3.9.2/bokeh.min.js'])).rejects.toThrow('did not arrive');
    page.fails = false;
    await expect(loader.load('3.9.2', ['/a/3.9.2/bokeh.min.js'])).resolves.toBeDefined();
  });

  it('loads what came after a failed script again, for it ran without it', async () => {
    const asked: string[] = [];
    const page: IBokehPage = { Bokeh: { '3.9.2': library('3.9.2') } };
    const run = (url: string): Promise<void> => {
      asked.push(url);
      const isFailed = url === 'a/tables.js' && asked.length === 1;
      return isFailed ? Promise.reject(new Error('did not arrive')) : Promise.resolve();
    };
    const loader = new BokehLoader(page, trans, run);
    const urls = ['a/bokeh.js', 'a/tables.js', 'a/cells.js'];
    await expect(loader.load('3.9.2', urls)).rejects.toThrow('did not arrive');
    await loader.load('3.9.2', urls);
    await loader.load('3.9.2', urls);
    expect(asked).toEqual(['a/tables.js', 'a/cells.js', 'a/tables.js', 'a/cells.js']);
  });

  it('refuses a library of another version than promised', async () => {
    const { page, run } = new Page();
    const load = new BokehLoader(page, trans, run).load('3.9.2', ['/a/3.8.0/bokeh.min.js']);
    await expect(load).rejects.toThrow('3.9.2');
  });

  it('loads what the next plot needs when the page is idle, once, and again when it failed', async () => {
    jest.useFakeTimers();
    const page = new Page();
    const loader = new BokehLoader(page.page, trans, page.run);
    await loader.load('3.9.2', ['/a/3.9.2/bokeh.min.js']);
    page.fails = true;
    loader.loadWhenIdle('3.9.2', ['/a/3.9.2/bokeh-widgets.min.js']);
    expect(page.asked).toHaveLength(1);
    await jest.runAllTimersAsync();
    expect(page.asked).toHaveLength(2);
    page.fails = false;
    const both = ['/a/3.9.2/bokeh.min.js', '/a/3.9.2/bokeh-widgets.min.js'];
    await loader.load('3.9.2', both);
    await loader.load('3.9.2', both);
    expect(page.asked.slice(2)).toEqual(['/a/3.9.2/bokeh-widgets.min.js']);
    jest.useRealTimers();
  });
});
