import {
  WireError,
  argumentsOf,
  controlOf,
  dashboardOf,
  dashboardsOf,
  openingOf,
  plotOutputOf,
  plotsOf,
  queryOf,
  sessionReplyOf,
  shortSubjectOf,
  subjectOf,
  tableOf
} from '../wire';
import { fixture, fixtureNames } from './dashboards';

describe('the dashboards answer', () => {
  it.each(fixtureNames('dashboards'))('%s is understood', name => {
    const given = fixture(`dashboards/${name}`) as { dashboards: { id: string }[] };
    expect(dashboardsOf(given).map(one => one.id)).toEqual(given.dashboards.map(one => one.id));
  });

  it.each(fixtureNames('dashboards/invalid'))('%s is refused', name => {
    expect(() => dashboardsOf(fixture(`dashboards/invalid/${name}`))).toThrow(WireError);
  });

  it('of one added dashboard is understood', () => {
    expect(dashboardOf(fixture('dashboards/added/stock.json')).kind).toBe('stock');
  });

  it('keeps odd characters as text', () => {
    const [one] = dashboardsOf(fixture('dashboards/odd_characters.json'));
    expect(one?.name).toContain('<b>');
  });
});

describe('other answers', () => {
  it('plots.json is understood', () => {
    expect(plotsOf(fixture('http/plots.json')).map(plot => plot.name)).toContain('task-stream');
  });

  it('a session names its scripts below static only', () => {
    const reply = fixture('http/session.json') as object;
    expect(sessionReplyOf(reply).scripts[0]).toBe('static/js/bokeh.min.js');
    for (const script of ['//evil/x.js', 'static/../x.js', 'https://evil/x.js', 'static/x.js?y']) {
      expect(() => sessionReplyOf({ ...reply, scripts: [script] })).toThrow(WireError);
    }
    expect(() => sessionReplyOf({ ...reply, scripts: [] })).toThrow(WireError);
    expect(() => sessionReplyOf({ ...reply, later: ['//evil/x.js'] })).toThrow(WireError);
    expect(sessionReplyOf({ ...reply, later: undefined }).later).toEqual([]);
  });

  it('a table has columns of one length', () => {
    expect(tableOf({ columns: { a: [1, 2] }, units: { a: 's' } }).units).toEqual({ a: 's' });
    expect(tableOf({ columns: { constructor: [1] } }).units['constructor']).toBe('');
    expect(() => tableOf({ columns: { a: [1], b: [] } })).toThrow(WireError);
  });

  it('an output that names no plot is nothing', () => {
    expect(plotOutputOf({ dashboard: 'x' })).toBeNull();
    expect(plotOutputOf(null)).toBeNull();
    expect(plotOutputOf({ dashboard: 'x', plot: 'cpu', height: 1e9 })?.height).toBe(4000);
  });

  it('an output says whether its cluster was named', () => {
    expect(plotOutputOf({ dashboard: 'x', plot: 'cpu' })?.isChosen).toBe(false);
    expect(plotOutputOf({ dashboard: 'x', plot: 'cpu', chosen: true })?.isChosen).toBe(true);
  });

  it('a control model is read field by field', () => {
    expect(controlOf({ state: 'lost', message: 'gone', behind_s: -1, empty: 3 })).toEqual({
      state: 'lost',
      message: 'gone',
      closed_at: 0,
      empty: '',
      note: '',
      behind_s: 0,
      frozen: false,
      open: null
    });
    expect(controlOf({ frozen: true }).frozen).toBe(true);
  });

  it('a plot that a click asks for is read with its arguments', () => {
    const open = JSON.stringify({ plot: 'profile', arguments: { prefix: 'inc', n: 3 }, n: 1 });
    expect(controlOf({ open }).open).toEqual({
      plot: 'profile',
      arguments: { prefix: 'inc' },
      n: 1
    });
  });

  it.each(['', '{', '[]', '3', '{"plot": "../etc", "n": 1}', '{"plot": "cpu"}', '{"n": 1}'])(
    'an opening of %s is none',
    open => expect(openingOf(open)).toBeNull()
  );

  it('arguments are names and texts, and none of a server’s own words', () => {
    const given = { worker: 'tcp://a:1', token: 'x', 'a b': 'x', long: 'x'.repeat(9000), n: 1 };
    expect(argumentsOf(given)).toEqual({ worker: 'tcp://a:1' });
    expect(argumentsOf(['x'])).toEqual({});
    expect(queryOf({ worker: 'tcp://a:1', prefix: 'a&b' })).toBe(
      '?worker=tcp%3A%2F%2Fa%3A1&prefix=a%26b'
    );
    expect(queryOf({})).toBe('');
  });

  it('a title names what a plot is about, and not how much of it', () => {
    expect(subjectOf({ start: '3', prefix: 'inc' })).toBe('inc');
    expect(subjectOf({ key: 'x'.repeat(1000) })).toHaveLength(60);
    expect(subjectOf({ start: '3' })).toBe('');
  });

  it.each([
    ['tcp://10.1.22.17:43567', '…17:43567'],
    ['tls://node-012:8790', '…node-012:8790'],
    ['tcp://[fe80::a1b2:c3d4:e5f6:1]:43567', '…d4:e5f6:1]:43567'],
    ['inproc://10.0.0.2/4711/8', '…10.0.0.2/4711/8'],
    ['alice', 'alice']
  ])('are short in a tab: the worker %s', (worker, expected) => {
    expect(shortSubjectOf({ worker })).toBe(expected);
  });
});
