/** What of Bokeh's surface a browser tab does without. */

import { served } from './served';

interface IModule {
  adopt(view: object): void;
}

const { adopt } = served<IModule>('figure_surface.js');

describe('a figure in a browser tab', () => {
  it('is no stop of the Tab key, and is wiped before it has another ground', () => {
    const events = document.createElement('div');
    const told: (() => void)[] = [];
    const wiped: number[][] = [];
    const context = {
      save: () => undefined,
      resetTransform: () => undefined,
      clearRect: (...box: number[]) => void wiped.push(box),
      restore: () => undefined
    };
    const layer = { canvas: { width: 30, height: 20, getContext: () => context } };
    const ground = { change: { connect: (slot: () => void) => void told.push(slot) } };
    const figure = {
      canvas_view: { events_el: events, primary: layer, overlays: layer },
      model: { properties: { background_fill_color: ground } }
    };
    adopt({ children_views: () => [undefined, figure] });
    expect([events.tabIndex, events.hasAttribute('tabindex')]).toEqual([-1, true]);
    told.forEach(slot => slot());
    expect(wiped).toEqual([
      [0, 0, 30, 20],
      [0, 0, 30, 20]
    ]);
  });
});
