import { Caption } from '../plot/caption';
import { Control } from '../protocol/control';
import { NOTHING_YET } from '../plot/state';
import { english, helpNodes, type ITranslate } from '../text';

let caption: Caption;
let set: [string, string][];

/** Make a caption; none of what it says leads out of it here. */
function make(trans: ITranslate): void {
  const onSet = (name: string, value: string): void => void set.push([name, value]);
  caption = new Caption(trans, () => undefined, onSet);
  document.body.replaceChildren(caption.node);
}

beforeEach(() => {
  set = [];
  make(english);
});

function show(values: object): void {
  const texts = Object.entries(values).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value)
  ]);
  caption.show(new Control(Object.fromEntries(texts)), 'Progress', NOTHING_YET);
}

const BARS = {
  name: 'bars',
  kind: 'select',
  label: 'Bars',
  value: 'prefix',
  options: [
    ['prefix', 'by prefix'],
    ['group', 'by group']
  ]
};

it('is headed by the plot’s headline, else by its title, not repeated beside its name', () => {
  show({ headline: '' });
  expect(caption.headline).toBe('Progress');
  show({ headline: '40 of 60 done' });
  expect(caption.headline).toBe('40 of 60 done');
  expect(document.querySelector('.jp-DaskDiag-title')?.textContent).toBe('40\u00a0of 60\u00a0done');
  caption.setTitles('Progress', null);
  show({ headline: '' });
  expect(caption.headline).toBe('');
});

it('has a legend and facts where the plot has some', () => {
  show({
    legend: [{ label: 'in memory', color: '#ff0000', shape: 'fill', alpha: 1 }],
    facts: [['workers', '4']]
  });
  expect(document.querySelector('.jp-DaskDiag-legend')?.textContent).toBe('■in memory');
  expect(document.querySelector('dd')?.textContent).toBe('4');
  show({});
  expect(document.querySelector<HTMLElement>('.jp-DaskDiag-legend')?.hidden).toBe(true);
});

it('sets what the reader chooses', () => {
  const button = { name: 'go', kind: 'button', label: 'Go', value: '', options: [] };
  show({ controls: [BARS, button] });
  const select = document.querySelector('select')!;
  expect(select.value).toBe('prefix');
  select.value = 'group';
  select.dispatchEvent(new Event('change'));
  document.querySelector<HTMLElement>('.jp-DaskDiag-controls button')?.click();
  expect(set).toEqual([
    ['bars', 'group'],
    ['go', 'on']
  ]);
});

it('leaves a field alone in which somebody types', () => {
  const text = { name: 'find', kind: 'text', label: 'Find', value: '', options: [] };
  show({ controls: [text] });
  const input = document.querySelector('input')!;
  input.focus();
  input.value = 'in';
  show({ controls: [{ ...text, value: 'old' }] });
  expect(document.querySelector('input')).toBe(input);
  expect(input.value).toBe('in');
  input.blur();
  show({ controls: [{ ...text, value: 'inc' }] });
  expect(input.value).toBe('inc');
});

it.each([
  ['One\nbar.\n\nTwo.', '<p>One\nbar.</p><p>Two.</p>'],
  ['Bars: a.\n- a: done\n- no', '<p>Bars: a.</p><p>• <b>a</b>: done</p><p>• no</p>'],
  ['<b>\n- <i>: &', '<p>&lt;b&gt;</p><p>• <b>&lt;i&gt;</b>: &amp;</p>']
])('a help has paragraphs and keys, and nothing in it is HTML: %j', (text, html) => {
  const nodes = helpNodes(text).map(node => node.outerHTML.replace('<b></b>', ''));
  expect(nodes.join('')).toBe(html);
});
