import { MimeModel } from '@jupyterlab/rendermime';
import type { PartialJSONObject } from '@lumino/coreutils';
import { Widget } from '@lumino/widgets';

import { MimeTypes } from '../tokens';
import { OutputPlot } from '../widgets/outputplot';
import { known } from './dashboards';
import { services, settled, type ITestServices } from './plots';

describe('a plot in a notebook output', () => {
  let given: ITestServices;
  let output: OutputPlot;
  let chosen = false;
  const opened: [string, object][] = [];

  const render = async (data: PartialJSONObject): Promise<void> => {
    await output.renderModel(new MimeModel({ data: { [MimeTypes.plot]: data } }));
    await settled();
  };
  const title = (): string | undefined =>
    output.node.querySelector('.jp-DaskDiag-title')?.textContent ?? undefined;

  beforeEach(() => {
    given = services();
    given.dashboards.set(known({ id: 'own' }));
    opened.length = 0;
    output = new OutputPlot(given, null, (view, isChosen) => {
      chosen = isChosen;
      view.opened.connect((_, opening) => opened.push([view.plot, opening.arguments]));
    });
    Widget.attach(output, document.body);
  });

  afterEach(() => {
    output.dispose();
    given.look.dispose();
  });

  it('is drawn with the arguments that it was made with', async () => {
    await render({ dashboard: 'own', plot: 'progress', arguments: { prefix: 'inc' } });
    const { plot, given: asked } = given.connector.last;
    expect([plot, asked]).toEqual(['progress', { prefix: 'inc' }]);
    expect(title()).toBe('Progress: inc');
  });

  it('tells whether its cluster was named', async () => {
    await render({ dashboard: 'own', plot: 'progress' });
    expect(chosen).toBe(false);
    await render({ dashboard: 'own', plot: 'progress', chosen: true });
    expect(chosen).toBe(true);
  });

  it('makes no choice where the output names none', async () => {
    await render({ dashboard: 'own', plot: 'progress', height: 300 });
    expect(given.connector.last.given).toEqual({});
    expect([title(), output.node.style.height]).toEqual(['Progress', '300px']);
  });

  it('takes from the arguments only what can be one', async () => {
    const hostile = { prefix: 'inc', token: 'x', 'a b': 'y', n: 1, ['__proto__x y']: 'z' };
    await render({ dashboard: 'own', plot: 'progress', arguments: hostile });
    expect(given.connector.last.given).toEqual({ prefix: 'inc' });
  });

  it('shows text in an argument as text', async () => {
    await render({ dashboard: 'own', plot: 'progress', arguments: { prefix: '<img src=x>' } });
    expect([output.node.querySelector('img'), title()]).toEqual([null, 'Progress: <img src=x>']);
  });

  it('shows other arguments after an update of the output, and ends what was there', async () => {
    await render({ dashboard: 'own', plot: 'progress', arguments: { prefix: 'inc' } });
    const first = given.connector.last;
    await render({ dashboard: 'own', plot: 'progress', arguments: { prefix: 'dec' } });
    expect([first.isDisposed, given.connector.last.given]).toEqual([true, { prefix: 'dec' }]);
  });

  it('says nothing of a broken output any more once it was mended', async () => {
    await render({ plot: 'progress' });
    expect(output.node.textContent).toBe('This output names no plot.');
    await render({ dashboard: 'own', plot: 'progress' });
    expect(output.node.textContent).not.toContain('names no plot');
    expect(given.connector.sessions).toHaveLength(1);
  });

  it('wears the tag of its cluster where there is more than one', async () => {
    await render({ dashboard: 'own', plot: 'progress' });
    const tag = output.node.querySelector<HTMLElement>('.jp-DaskDiag-tag');
    expect(tag?.hidden).toBe(true);
    given.dashboards.set(known({ id: 'own', tag: 1 }), known({ id: 'second' }));
    expect([tag?.hidden, tag?.textContent]).toEqual([false, '2']);
  });

  it('hands on what a click in its picture asks for', async () => {
    await render({ dashboard: 'own', plot: 'progress' });
    given.connector.last.opened.emit({ plot: 'profile', arguments: { prefix: 'inc' }, n: 1 });
    expect(opened).toEqual([['progress', { prefix: 'inc' }]]);
  });
});
