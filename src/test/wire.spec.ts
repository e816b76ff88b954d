import {
  controlOf,
  dashboardOf,
  dashboardsOf,
  plotOutputOf,
  plotsOf,
  sessionReplyOf,
  tableOf,
  WireError
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
  });

  it('a table has columns of one length', () => {
    expect(tableOf({ columns: { a: [1, 2] }, units: { a: 's' } }).units).toEqual({ a: 's' });
    expect(() => tableOf({ columns: { a: [1], b: [] } })).toThrow(WireError);
  });

  it('an output that names no plot is nothing', () => {
    expect(plotOutputOf({ dashboard: 'x' })).toBeNull();
    expect(plotOutputOf(null)).toBeNull();
    expect(plotOutputOf({ dashboard: 'x', plot: 'cpu', height: 1e9 })?.height).toBe(4000);
  });

  it('a control model is read field by field', () => {
    expect(controlOf({ state: 'lost', message: 'gone', behind_s: -1, empty: 3 })).toEqual({
      state: 'lost',
      message: 'gone',
      empty: '',
      note: '',
      behind_s: 0,
      frozen: false
    });
    expect(controlOf({ frozen: true }).frozen).toBe(true);
  });
});
