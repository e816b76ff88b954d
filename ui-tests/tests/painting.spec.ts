// Data may come together with a change of the layout, at which BokehJS paints at once.
import { CLUSTER, WORK } from '../harness/ipynb';
import { expect, test } from '../harness/test';

/** What is touched of BokehJS. */
interface IBokehPage {
  readonly DrawnWith: {
    readonly index: { query(is: (view: object) => boolean): Iterable<IRendererView> };
  };
}
interface IRendererView {
  readonly model: { readonly data_source: { data: Record<string, ArrayLike<unknown>> } };
}

// Only our own scripts see what they draw with.
test.beforeEach(({ page }) =>
  page.route('**/dist/dask_diag_lab.js*', async route => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `${await response.text()}window.DrawnWith = Bokeh;` });
  })
);

/** Each update has more rows, each with a colour and a line in the legend, and another layout. */
const GROWING = `from dask_diag_lab import FigureView, register_plot
@register_plot
class Growing(FigureView):
    name, title, description = "growing", "Growing", "More and more rows."
    def rows(self):
        rows = range(self.live.version)
        return {"row": list(rows), "color": [f"#{10 + row % 90}8000" for row in rows]}
    def make_figure(self, source):
        picture = self.new_figure()
        bars = {"y": "row", "right": "row", "legend_field": "color", "source": source}
        self.bars = picture.hbar(color="color", **bars)
        return picture
    def adjust(self, picture, rows):
        self.bars.visible = len(rows["row"]) % 2 == 0
        picture.min_border_left = 10 + len(rows["row"]) % 2`;

test('nothing is painted with new data and colours of before', async ({ lab, page, server }) => {
  const notebook = await lab.open(server.writeNotebook('paint.ipynb', [CLUSTER, GROWING, WORK]));
  for (const cell of [0, 1, 2]) {
    await notebook.run(cell);
  }
  await lab.command('dask-diag-lab:open-plot', { plot: 'growing', arguments: {} });
  await lab.livePane('growing');
  const rows = (): Promise<number> =>
    page.evaluate(() => {
      const { index } = (window as unknown as IBokehPage).DrawnWith;
      const views = [...index.query(view => 'all_indices' in view)];
      return Math.max(...views.map(one => one.model.data_source.data['row']?.length ?? 0));
    });
  const before = await rows();
  await expect.poll(rows).toBeGreaterThan(before + 5); // errors in the browser fail the test
});
