/** What people read of errors comes through the translator, also below the widgets. */

import { ServerConnection } from '@jupyterlab/services';

import { BokehLoader } from '../api/bokeh';
import { Server } from '../api/server';
import { errorWords, type ITranslate } from '../api/words';
import { PlotLink } from '../model/plotlink';
import { PageLook } from '../widgets/theme';
import { dashboardsOf } from '../wire';
import { Connector, settled } from './plots';

/** Says what went through it. */
const marked: ITranslate = {
  __: (text, ...values) => `«${text.replace(/%(\d)/g, (_, at) => values[Number(at) - 1] ?? '')}»`
};

async function wordsOf(doing: Promise<unknown>): Promise<string> {
  return doing.then(
    () => '',
    (error: unknown) => errorWords(error, marked)
  );
}

describe('the words of errors', () => {
  it('are translated for a server that is silent', async () => {
    const settings = ServerConnection.makeSettings({
      baseUrl: 'http://x/',
      fetch: () => Promise.reject(new TypeError('refused')),
      // What is asked of a request before it is handed on to `fetch`.
      Request: class {
        headers = { has: () => true, append: () => undefined };
      } as never
    });
    const asked = new Server(settings, marked).fetchDashboards();
    expect(await wordsOf(asked)).toBe('«The Jupyter server does not answer.»');
  });

  it('are translated for an answer of another version', () => {
    let words = '';
    try {
      dashboardsOf({ dashboards: 3 });
    } catch (error) {
      words = errorWords(error, marked);
    }
    expect(words).toMatch(/^«The server’s answer is not .*dashboards.*»$/);
  });

  it('are translated for a library that is another one', async () => {
    const loader = new BokehLoader({}, marked, () => Promise.resolve());
    expect(await wordsOf(loader.load('3.9.2', ['/bokeh.min.js']))).toBe(
      '«The dashboard sent a drawing library other than BokehJS 3.9.2.»'
    );
  });

  it('are translated for a connection that ended, and for a picture that is not there', async () => {
    const connector = new Connector();
    const look = new PageLook();
    const stage = {
      prepare: () => document.createElement('div'),
      show: () => undefined,
      ground: () => undefined,
      drop: () => undefined
    };
    const link = new PlotLink(connector, 'cpu', stage, look.current, {}, marked);
    expect(await wordsOf(link.picture(look.current))).toBe('«There is no picture yet.»');
    link.target('a');
    await settled();
    connector.last.cut();
    expect(link.state).toMatchObject({ phase: 'failed', reason: '«The connection ended.»' });
    link.dispose();
    look.dispose();
  });
});
