/** How a page of a dashboard tells why a plot did not open. */

import { served } from './served';
import { settled } from './plots';

interface IModule {
  openSession(plot: string, wish: object, isRelayed: boolean): Promise<unknown>;
  GoneError: new () => Error;
}

document.body.dataset['base'] = 'http://localhost/';
const { openSession, GoneError } = served<IModule>('session.js');

describe('opening a plot of a served page', () => {
  const opening = async (answer: Promise<unknown>, isRelayed = true): Promise<Error> => {
    jest.spyOn(globalThis, 'fetch').mockReturnValue(answer as never); // as much as is used
    return openSession('progress', {}, isRelayed).then(
      () => new Error('opened'),
      (reason: Error) => reason
    );
  };
  const late = (): Error => Object.assign(new Error('signal timed out'), { name: 'TimeoutError' });
  const broken = (): Promise<never> => Promise.reject(new TypeError('Failed to fetch'));
  const answered = (text: () => Promise<string>): Promise<unknown> =>
    Promise.resolve({ ok: true, text });

  afterEach(() => jest.restoreAllMocks());

  it('tells an answer that did not come in time, also from its middle on', async () => {
    const words = 'No answer within 60 s; the kernel may be busy.';
    expect((await opening(Promise.reject(late()))).message).toBe(words);
    expect((await opening(answered(() => Promise.reject(late())))).message).toBe(words);
  });

  it('tells an answer that broke off', async () => {
    expect((await opening(answered(broken))).message).toBe('The answer broke off.');
  });

  it('blames nobody for a way that is cut', async () => {
    expect((await opening(broken())).message).toBe('The Jupyter server cannot be reached.');
    const direct = await opening(broken(), false);
    expect(direct).toBeInstanceOf(GoneError);
    expect(direct.message).toBe('This address cannot be reached.');
  });

  it('asks for a script anew that neither came nor failed in time', async () => {
    jest.useFakeTimers();
    const reply = answered(() => Promise.resolve('{"token": "t", "scripts": ["slow.js"]}'));
    const asked = (): number => document.head.querySelectorAll('script[src$="slow.js"]').length;
    for (const time of ['first', 'second']) {
      const failed = opening(reply);
      await jest.advanceTimersByTimeAsync(1);
      expect([time, asked()]).toEqual([time, 1]);
      await jest.advanceTimersByTimeAsync(60_000);
      expect((await failed).message).toContain('No answer within 60 s');
      expect([time, asked()]).toEqual([time, 0]);
    }
    jest.useRealTimers();
  });

  it('gives up a picture that does not come, and closes it when it comes', async () => {
    jest.useFakeTimers();
    let come: (session: object) => void = () => undefined;
    const pulled = new Promise(resolve => (come = resolve));
    const require = (): object => ({ pull_session: () => pulled });
    Object.assign(window, { Bokeh: { require } });
    const failed = opening(answered(() => Promise.resolve('{"token": "t", "scripts": []}')));
    await jest.advanceTimersByTimeAsync(60_000);
    expect((await failed).message).toContain('No answer within 60 s');
    const session = { close: jest.fn() };
    come(session);
    await settled();
    expect(session.close).toHaveBeenCalledTimes(1);
    jest.useRealTimers();
  });
});
