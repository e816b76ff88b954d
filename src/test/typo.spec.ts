import { found } from '../model/catalogue';
import { isNearly } from '../model/typo';
import { known } from './dashboards';

describe('a slip of the finger', () => {
  it.each([
    ['strem', 'stream'],
    ['memry', 'memory'],
    ['taks', 'task'],
    ['progres', 'progress'],
    ['bandwdith', 'bandwidth'],
    ['procesing', 'processing']
  ])('“%s” may mean “%s”', (typed, word) => {
    expect(isNearly(typed, word)).toBe(true);
  });

  it.each([
    ['cpu', 'gpu'],
    ['disk', 'task'],
    ['stream', 'shuffle'],
    ['no', 'node'],
    ['graph', 'progress']
  ])('“%s” is not “%s”', (typed, word) => {
    expect(isNearly(typed, word)).toBe(false);
  });

  it('is looked for only where nothing matches as it was typed', () => {
    const [plot] = known().plots;
    const plots = ['stream', 'strem'].map(name => ({ ...plot!, name, title: name, keywords: [] }));
    expect(found(plots, 'strem').map(one => one.name)).toEqual(['strem']);
    expect(found(plots.slice(0, 1), 'strem').map(one => one.name)).toEqual(['stream']);
  });

  it('knows what people call wasted time, transfer and RAM', () => {
    const names = ['costs', 'workers-transfer-bytes', 'workers-memory'];
    const plots = names.map(name => ({
      name,
      title: name,
      group: 'Workers',
      description: ''
    }));
    const by = (query: string): string[] => found(plots, query).map(plot => plot.name);
    expect(by('wasted time')).toEqual(['costs']);
    expect(by('transfer')).toEqual(['workers-transfer-bytes']);
    expect(by('RAM')).toEqual(['workers-memory']);
  });
});
