import { Widget } from '@lumino/widgets';

import { absoluteUrl } from '../plugins/links';
import { bindingOf } from '../widgets/binding';
import { paneFor, type Pane } from '../widgets/pane';
import { stock } from './dashboards';
import { settled } from './plots';
import { services } from './services';

const own = stock({ kernel_id: 'k1' });

describe('a pane of one of Dask’s own plots', () => {
  let reached: string[];
  let pane: Pane;
  const given = services(undefined, {
    reach: id => {
      reached.push(id);
      return Promise.resolve();
    }
  });
  const { dashboards } = given;
  Object.assign(given.server, { trans: given.trans });

  beforeEach(async () => {
    jest.useFakeTimers();
    reached = [];
    dashboards.connections = 1;
    dashboards.set(own);
    pane = paneFor({ plot: 'task-stream', binding: bindingOf(own), services: given }, 'k');
    Widget.attach(pane, document.body);
    await loaded();
  });
  afterEach(() => {
    pane.dispose();
    jest.useRealTimers();
  });

  const frames = (): HTMLIFrameElement[] => [...pane.node.querySelectorAll('iframe')];
  const state = (): string | undefined => pane.node.dataset['state'];
  async function loaded(): Promise<void> {
    await settled();
    frames().forEach(frame => frame.dispatchEvent(new Event('load')));
    await settled();
  }
  async function hide(isHidden: boolean): Promise<void> {
    const value = isHidden ? 'hidden' : 'visible';
    Object.defineProperty(document, 'visibilityState', { configurable: true, value });
    document.dispatchEvent(new Event('visibilitychange'));
    await loaded();
  }

  it('is a frame without rights, at the page of the plot behind the relay', () => {
    const [frame] = frames();
    expect(frame?.getAttribute('sandbox')).toBe(
      'allow-scripts allow-popups allow-downloads allow-modals'
    );
    expect(frame?.src).toBe('http://jupyter/relay/individual-task-stream');
    expect(state()).toBe('live');
    expect(pane.title.label).toBe('Task Stream');
    expect(pane.node.textContent).toContain('Dask’s dashboard of 127.0.0.1:8787');
  });

  it('is made anew after its dashboard was away, was restarted, or all connections were cut', async () => {
    dashboards.set({ ...own, state: 'unreachable', reason: 'It is away.' });
    expect([state(), pane.node.textContent]).toEqual([
      'stale',
      expect.stringContaining('It is away.')
    ]);
    dashboards.set(own);
    await loaded();
    dashboards.set({ ...own, scheduler: { ...own.scheduler, address: 'tcp://127.0.0.1:2' } });
    await loaded();
    dashboards.connections = 2;
    dashboards.set({ ...own, scheduler: { ...own.scheduler, address: 'tcp://127.0.0.1:2' } });
    await loaded();
    expect(reached).toHaveLength(4);
    expect([frames().length, state()]).toEqual([1, 'live']);
    dashboards.set();
    expect(state()).toBe('offline');
    expect(pane.node.textContent).toContain('127.0.0.1:8787 is not listed any more');
  });

  it('stops drawing in the scheduler when nobody has seen it for a while', async () => {
    await hide(true);
    await jest.advanceTimersByTimeAsync(20_000);
    expect(frames()).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(20_000);
    expect([frames().length, state()]).toEqual([0, 'paused']);
    const shown = hide(false);
    expect(pane.node.textContent).toContain('Connecting…');
    await shown;
    expect([frames().length, state()]).toEqual([1, 'live']);
  });

  it('says that it needs websockets where none open', () => {
    Object.assign(dashboards, { isAsking: true });
    dashboards.set({ ...own });
    expect(pane.node.textContent).toContain('need websockets');
    Object.assign(dashboards, { isAsking: false });
  });
});

it('a link that names no host is one on the page’s own', () => {
  const origin = 'https://hub.example';
  expect(absoluteUrl(' /x/status', origin)).toBe('https://hub.example/x/status');
  for (const other of ['http://127.0.0.1:8787', '127.0.0.1:8787/status', '//elsewhere/x']) {
    expect(absoluteUrl(other, origin)).toBe(other);
  }
});
