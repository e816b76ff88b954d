// Data may come together with a change of the layout, at which BokehJS paints at once.
import { CLUSTER, WORK } from '../harness/ipynb';
import { expect, test } from '../harness/test';

/** What is touched of BokehJS. */
interface IRendererView {
  readonly model: { readonly data_source: { data: Record<string, ArrayLike<unknown>> } };
  readonly plot_view: { paint(): void };
}
interface IBokehPage {
  readonly Bokeh: {
    readonly index: { query(is: (view: object) => boolean): Iterable<IRendererView> };
  };
}

test('nothing is painted with new data and colours of before', async ({ lab, page, server }) => {
  const notebook = await lab.open(server.writeNotebook('paint.ipynb', [CLUSTER, WORK]));
  await notebook.run(0);
  await notebook.run(1);
  for (const plot of ['profile', 'progress']) {
    await lab.command('dask-diag-lab:open-plot', { plot, arguments: {} });
    await lab.livePane(plot);
  }
  const painted = await page.evaluate(() => {
    const { index } = (window as unknown as IBokehPage).Bokeh;
    const views = [...index.query(view => 'all_indices' in view)];
    for (const { model, plot_view } of views) {
      const columns = Object.entries(model.data_source.data);
      const thrice = columns.map(([name, column]) => {
        const values = Array.from(column);
        return [name, [...values, ...values, ...values]];
      });
      model.data_source.data = Object.fromEntries(thrice);
      plot_view.paint();
    }
    return views.length;
  });
  expect(painted).toBeGreaterThan(5);
});
