import { bindingOf, boundTo, heirOf, savedBinding } from '../model/binding';
import { grouped, matches } from '../model/catalogue';
import { meantDashboard } from '../model/choice';
import { formatBytes, formatCount, formatMoment, formatSpan } from '../model/format';
import { layoutOf, USUAL_FOUR } from '../model/layout';
import { toHex } from '../model/look';
import { shownNames } from '../model/names';
import { plotCode } from '../model/snippets';
import { known } from './dashboards';

const SECOND = 1000;

describe('a pane whose dashboard', () => {
  const own = known({ id: 'own', kernel_id: 'k', firstSeen: 10 * SECOND, lastLive: 100 * SECOND });
  const binding = bindingOf(own);
  const seen = { firstSeen: own.firstSeen, lastLive: own.lastLive };
  const later = known({ id: 'later', kernel_id: 'k', firstSeen: 120 * SECOND });

  it('has gone is taken over by the next one of its kernel', () => {
    expect(heirOf(binding, seen, [later])?.id).toBe('later');
  });

  it('has ended is taken over by a new cluster of its kernel', () => {
    const ended = { ...own, state: 'stale' as const };
    expect(heirOf(binding, seen, [ended, later])?.id).toBe('later');
    expect(heirOf(binding, seen, [ended])).toBeUndefined();
  });

  it('was replaced a moment before it went is taken over as well', () => {
    const overlapping = { ...later, firstSeen: own.lastLive - 5 * SECOND };
    expect(heirOf(binding, seen, [overlapping])?.id).toBe('later');
  });

  it('has gone is not given to a cluster that ran beside it all the time', () => {
    const beside = known({ id: 'beside', kernel_id: 'k', firstSeen: 11 * SECOND });
    expect(heirOf(binding, seen, [beside])).toBeUndefined();
  });

  it('has gone is not given to another notebook', () => {
    const other = {
      ...later,
      kernel_id: 'x',
      notebook: 'other.ipynb',
      scheduler: { id: 'S', address: '' }
    };
    expect(heirOf(binding, seen, [other])).toBeUndefined();
  });

  it('has gone comes back by its notebook when the kernel is another', () => {
    const restarted = { ...later, kernel_id: 'new', scheduler: { id: 'S', address: '' } };
    expect(heirOf(binding, seen, [restarted])?.id).toBe('later');
  });

  it('was never seen since a reload takes the live one of its kernel', () => {
    expect(heirOf(binding, undefined, [later])?.id).toBe('later');
  });

  it('was not seen since a reload is not given to one that ran beside it before', () => {
    const beside = known({ id: 'beside', kernel_id: 'k', firstSeen: 11 * SECOND });
    const before = boundTo(own, binding, [own, beside, known({ id: 'x', state: 'stale' })]);
    expect(before.beside).toEqual(['beside']);
    const saved = savedBinding(JSON.parse(JSON.stringify(before)))!;
    expect(heirOf(saved, undefined, [beside])).toBeUndefined();
    expect(heirOf(saved, undefined, [beside, later])?.id).toBe('later');
  });

  it('remembers who ran beside it until it has another dashboard', () => {
    const beside = known({ id: 'beside', kernel_id: 'k' });
    const first = boundTo(own, binding, [own, beside]);
    expect(boundTo(own, first, [own]).beside).toEqual(['beside']);
    expect(boundTo(later, first, [later]).beside).toEqual([]);
  });

  it('is remembered as plain JSON', () => {
    expect(savedBinding(JSON.parse(JSON.stringify(binding)))).toEqual(binding);
    expect(savedBinding({ kernel: 'k' })).toBeNull();
    expect(savedBinding(null)).toBeNull();
  });
});

describe('a command without a dashboard', () => {
  const a = known({ id: 'a', kernel_id: 'ka' });
  const b = known({ id: 'b', kernel_id: 'kb' });

  it('means that of the notebook in front', () => {
    expect(meantDashboard([a, b], undefined, 'kb')?.id).toBe('b');
  });

  it('means the only one there is', () => {
    expect(meantDashboard([a], undefined, 'elsewhere')?.id).toBe('a');
  });

  it('means none when several could be', () => {
    expect(meantDashboard([a, b], undefined, undefined)).toBeUndefined();
  });

  it('never takes another for one that was named', () => {
    expect(meantDashboard([a], 'gone', 'ka')).toBeUndefined();
  });
});

describe('words and numbers', () => {
  it('names are short where that is enough', () => {
    expect(shownNames(['a/x.ipynb', 'b/x.ipynb', 'y.ipynb', 'y.ipynb'])).toEqual([
      'a/x.ipynb',
      'b/x.ipynb',
      'y.ipynb',
      'y.ipynb (2)'
    ]);
  });

  it('memory has binary units and three digits', () => {
    expect([0, 734003200, 16 * 2 ** 30, 1.5 * 2 ** 30].map(formatBytes)).toEqual([
      '0 B',
      '700 MiB',
      '16 GiB',
      '1.5 GiB'
    ]);
  });

  it('clocks tell seconds where they matter', () => {
    expect(formatMoment(new Date('2026-11-20T04:02:09').getTime())).toBe('04:02:09');
  });

  it('counts and spans are readable', () => {
    expect(formatCount(1234567)).toBe('1\u202f234\u202f567');
    expect([0.4, 12, 99, 150, 7200].map(formatSpan)).toEqual([
      '0 s',
      '12 s',
      '99 s',
      '3 min',
      '2 h'
    ]);
  });

  it('colours lie over the background', () => {
    expect(toHex('rgba(0, 0, 0, 0.5)', '#ffffff')).toBe('#808080');
    expect(toHex('rgb(1 2 3 / 1)', '#ffffff')).toBe('#010203');
    expect(toHex('', '#ffffff')).toBeNull();
  });

  it('code takes names of plots and nothing else', () => {
    expect(plotCode('task-stream')).toContain('dask_diag_lab.plot("task-stream")');
    expect(() => plotCode('x"); import os #')).toThrow();
  });
});

describe('the catalogue', () => {
  const { plots } = known();

  it('finds memory plots by “spill”', () => {
    expect(plots.filter(plot => matches(plot, 'spill')).map(plot => plot.name)).toEqual([
      'workers-memory'
    ]);
  });

  it('puts favourites into a group before the others, and each plot into one only', () => {
    const groups = grouped(plots, '', plot => plot === 'workers-memory');
    expect(groups.map(({ name, plots: own }) => [name, own.map(plot => plot.name)])).toEqual([
      ['Favourites', ['workers-memory']],
      ['Tasks', ['task-stream', 'progress', 'graph']]
    ]);
  });

  it('a layout keeps the steps that can be placed', () => {
    expect(layoutOf([])).toBe(USUAL_FOUR);
    expect(layoutOf([{ plot: 'cpu', mode: 'split-right', at: 'nowhere' }, 3])).toBe(USUAL_FOUR);
    expect(layoutOf([{ plot: 'cpu', mode: 'split-left' }])).toEqual([
      { plot: 'cpu', mode: 'split-left', at: '' }
    ]);
  });
});
