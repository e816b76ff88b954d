import { dashboardsOf, listAfter, plotOutputOf, plotsOf } from '../protocol/dashboard';
import {
  argumentsOf,
  Control,
  documentOf,
  headingOf,
  isSameArguments,
  plotLinkOf,
  queryOf
} from '../protocol/control';
import { ProtocolError } from '../text';
import { fixture, fixtureNames } from './dashboards';

describe('the list of dashboards', () => {
  it.each(fixtureNames('dashboards'))('%s is understood', name => {
    const given = fixture(`dashboards/${name}`) as { dashboards: { id: string }[] };
    expect(dashboardsOf(given).map(one => one.id)).toEqual(given.dashboards.map(one => one.id));
  });

  it.each(fixtureNames('dashboards/invalid'))('%s is refused', name => {
    expect(() => dashboardsOf(fixture(`dashboards/invalid/${name}`))).toThrow(ProtocolError);
  });

  it('takes what changed, with the plots it had, and lets go what was removed', () => {
    const change = fixture('dashboards/changes/two.json') as {
      changed: { id: string; plots?: unknown }[];
      removed: string[];
    };
    const known = dashboardsOf(fixture('dashboards/live.json'));
    const plots = known[0]!.plots;
    const before = [
      ...change.changed.map(({ id }) => ({ ...known[0]!, id })),
      ...change.removed.map(id => ({ ...known[0]!, id }))
    ];
    const after = listAfter(before, change);
    expect(after.map(({ id }) => id)).toEqual(change.changed.map(({ id }) => id));
    const unchanged = change.changed.findIndex(one => one.plots === undefined);
    expect(after[unchanged]?.plots).toEqual(plots);
  });
});

describe('other answers', () => {
  it('plots.json and a document are understood', () => {
    expect(plotsOf(fixture('http/plots.json')).map(({ name }) => name)).toContain('task-stream');
    expect(documentOf(fixture('stream/document.json')).scripts[0]).toMatch(/^static\//);
  });

  it.each(['https://elsewhere/x.js', 'static/../x.js', '/static/x.js', 'static/x.css'])(
    'a document cannot name the script %s',
    script => {
      const message = { document: {}, bokeh: '3.9.2', scripts: [script] };
      expect(() => documentOf(message)).toThrow(ProtocolError);
    }
  );

  it('an output names a plot, and its height has bounds', () => {
    const given = { dashboard: 'd', plot: 'progress', arguments: { prefix: 'inc', token: 'x' } };
    const { height, arguments: shown } = plotOutputOf({ ...given, height: 1e9 })!;
    expect([height, shown]).toEqual([4000, { prefix: 'inc' }]);
    expect(plotOutputOf({ dashboard: 'd' })).toBeNull();
  });
});

describe('arguments of a plot', () => {
  it('keep names and texts only', () => {
    expect(argumentsOf({ b: 'x', a: 'y', n: 1, token: 'secret', 'no name': 'z' })).toEqual({
      a: 'y',
      b: 'x'
    });
    expect(isSameArguments({ a: '1', b: '2' }, { b: '2', a: '1' })).toBe(true);
    expect(queryOf({ prefix: 'a&b' })).toBe('?prefix=a%26b');
  });

  it('head a plot with what they choose', () => {
    const worker = { worker: 'tcp://10.0.0.1:43567' };
    expect(headingOf('Profile', { prefix: 'inc', start: '3' }, [])).toBe('Profile: inc');
    expect(headingOf('Worker', worker, [])).toBe('Worker: 10.0.0.1:43567');
    const known: [string, string] = ['tcp://10.0.0.1:43567', 'worker 0'];
    const list = { name: 'worker', kind: 'select', label: '', value: '', placeholder: '' } as const;
    expect(headingOf('Worker', worker, [{ ...list, options: [known] }])).toBe('Worker: worker 0');
    expect(headingOf('Progress', {}, [])).toBe('Progress');
  });
});

describe('the control', () => {
  it('says what it lacks as nothing', () => {
    const { state, headline, legend, controls, open } = new Control({ state: 'odd' });
    expect([state, headline, legend, controls, open]).toEqual(['connecting', '', [], [], null]);
  });

  it('asks only for what can be a plot', () => {
    expect(plotLinkOf('{"plot": "profile", "arguments": {"prefix": "inc"}, "n": 2}')).toEqual({
      plot: 'profile',
      arguments: { prefix: 'inc' },
      n: 2
    });
    expect(plotLinkOf('{"plot": "../x", "n": 1}')).toBeNull();
  });
});
