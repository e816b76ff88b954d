/** What is taken over of Bokeh's own surface. */

import { DisposableSet } from '@lumino/disposable';

import { adopt, titleOf } from '../api/surface';
import type { IBokehView } from '../api/bokeh';

const title = (text: string): object => ({ text, setv: () => undefined });

describe('the title of a picture', () => {
  it('is that of its only figure, however deep it lies', () => {
    const own = title('CPU');
    expect(titleOf([{ title: own }, { name: 'control' }])).toBe(own);
    const select = { title: 'Worker', options: [] };
    expect(titleOf([{ children: [select, { children: [{ title: own }] }] }])).toBe(own);
  });

  it('is none where figures have one each', () => {
    expect(titleOf([{ children: [{ title: title('a') }, { title: title('b') }] }])).toBeNull();
    expect(titleOf([{}])).toBeNull();
  });
});

describe('a figure in a page of ours', () => {
  it('lays no hints over its data, has no ground of its own and is no stop of the Tab key', () => {
    const hints: string[] = [];
    const events_el = document.createElement('div');
    events_el.tabIndex = 0;
    const figure = {
      model: { properties: {} },
      el: document.createElement('div'),
      canvas_view: { primary: { canvas: null }, overlays: { canvas: null }, events_el },
      notify_about: (hint: string) => void hints.push(hint)
    };
    const layout: IBokehView = { model: {}, children_views: () => [null, figure, undefined] };
    adopt(layout, new DisposableSet());
    figure.notify_about('use ctrl + scroll to zoom');
    expect([hints, figure.el.style.backgroundColor]).toEqual([[], 'transparent']);
    expect(events_el.tabIndex).toBe(-1);
  });

  it('tells nothing any more of the place under the pointer once it has another size, until its picture ends', () => {
    const resized: (() => void)[] = [];
    const observed: Element[] = [];
    class Observer {
      constructor(slot: () => void) {
        resized.push(slot);
      }
      observe(element: Element): void {
        observed.push(element);
      }
      disconnect(): void {
        observed.pop();
      }
    }
    Object.assign(window, { ResizeObserver: Observer });
    const events_el = document.createElement('div');
    const left: boolean[] = [];
    events_el.addEventListener('pointerout', event => void left.push(event.clientX < 0));
    const layers = { primary: { canvas: null }, overlays: { canvas: null } };
    const el = document.createElement('div');
    const view = { model: { properties: {} }, el, canvas_view: { ...layers, events_el } };
    const watches = new DisposableSet();
    adopt(Object.assign(view, { notify_about: () => undefined }), watches);
    expect([observed, left]).toEqual([[el], []]);
    resized.forEach(slot => slot());
    expect(left).toEqual([true]);
    watches.dispose();
    expect(observed).toEqual([]);
  });
});
