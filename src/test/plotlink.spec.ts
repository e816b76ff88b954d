/** The connection of one plot: what ends it, and when it is tried again. */

import { PlotLink } from '../model/plotlink';
import { PageLook } from '../widgets/theme';
import { trans } from './dashboards';
import { Connector, settled } from './plots';

describe('the link to a plot', () => {
  let connector: Connector;
  let look: PageLook;
  let link: PlotLink;

  const pass = async (ms: number): Promise<void> => {
    jest.advanceTimersByTime(ms);
    await settled();
  };

  beforeEach(async () => {
    jest.useFakeTimers();
    connector = new Connector();
    look = new PageLook();
    const stage = {
      prepare: () => document.createElement('div'),
      show: () => undefined,
      ground: () => undefined,
      drop: () => undefined
    };
    link = new PlotLink(connector, 'cpu', stage, look.current, {}, trans);
    link.target('a');
    await settled();
  });

  afterEach(() => {
    link.dispose();
    look.dispose();
    jest.useRealTimers();
  });

  it('does not mind the late end of a connection that was replaced', async () => {
    const old = connector.last;
    link.target('b');
    await settled();
    old.cut();
    await pass(60_000);
    expect([link.state.phase, connector.sessions.length]).toEqual(['open', 2]);
  });

  it('does not mind the end of the connection that is being replaced', async () => {
    const old = connector.last;
    link.target('b');
    old.cut();
    await settled();
    await pass(60_000);
    expect([link.state.phase, connector.last.dashboard]).toEqual(['open', 'b']);
    expect(connector.sessions).toHaveLength(2);
  });

  it('leaves no timer behind when it ends late', async () => {
    const old = connector.last;
    link.dispose();
    old.cut();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('waits longer and longer when connections end at once', async () => {
    for (let turn = 0; turn < 200; turn += 1) {
      if (connector.last.isOpen) {
        connector.last.cut();
      }
      await pass(300);
    }
    expect(connector.sessions.length).toBeLessThan(12);
  });

  it('waits shortly again after a connection that lasted', async () => {
    for (let turn = 0; turn < 6; turn += 1) {
      connector.last.cut();
      await pass(15_000 / 2 ** (5 - turn));
    }
    await pass(15_000);
    const { length } = connector.sessions;
    await pass(11_000);
    connector.last.cut();
    await pass(500);
    expect(connector.sessions).toHaveLength(length + 1);
  });

  it('does not take a picture without a greeting for a connection that lasted', async () => {
    connector.beginsMute = true;
    link.target('mute');
    await settled();
    const opened = (): number => connector.sessions.length;
    const waits: number[] = [];
    for (let turn = 0; turn < 5; turn += 1) {
      await pass(11_000);
      const before = opened();
      connector.last.cut();
      let waited = 0;
      while (opened() === before) {
        await pass(100);
        waited += 100;
      }
      waits.push(waited);
    }
    expect(waits[4]).toBeGreaterThan(4 * waits[0]!);
  });

  it('says since when a greeting is awaited, and that it came', async () => {
    connector.beginsMute = true;
    link.target('b');
    await settled();
    const since = Date.now();
    expect(link.state).toMatchObject({ phase: 'open', since });
    await pass(2_000);
    expect(link.state).toMatchObject({ phase: 'open', since });
    connector.last.greet();
    expect(link.state).toMatchObject({ phase: 'open', since: 0 });
  });
});
