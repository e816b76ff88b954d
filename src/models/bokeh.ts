/** How our Bokeh models get into the versions of BokehJS that a page holds. */

/**
 * What BokehJS exports has no types here: it publishes none for `Bokeh.require`, and the classes
 * differ between the versions that one page may hold.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- see above
export type Untyped = any;

/** One version of BokehJS. */
export interface IBokehLibrary {
  readonly version?: string;
  require(module: string): Untyped;
}

/** A model's class. */
export interface IModelClass {
  /** Its name on both sides. Bokeh 3.10 no longer makes it from a `__name__`. */
  readonly __qualified__: string;
}

/** Return what makes the models of a module of our plots: name, base, view and properties of each. */
export function modelsOf(
  module: string
): (name: string, base: Untyped, view?: Untyped, properties?: Untyped) => IModelClass {
  return (name, base, view, properties) => {
    const model: Untyped = class extends base {};
    model.__qualified__ = `dask_diag_lab.views.${module}.${name}`;
    if (view !== undefined) {
      model.prototype.default_view = view;
    }
    if (properties !== undefined) {
      model.define(properties);
    }
    return model;
  };
}

export const model = modelsOf('models');

/** Makes models on top of the classes of one version of BokehJS, and of our `CanvasChart`. */
export type ModelFactory = (bokeh: IBokehLibrary, canvasChart?: Untyped) => readonly IModelClass[];

/**
 * Add models to every version of BokehJS in the page that lacks them.
 *
 * @param needs - a model of Bokeh without which these cannot be made (its tables are optional).
 */
export function register(models: ModelFactory, needs?: string): void {
  const page = (globalThis as { Bokeh?: Record<string, unknown> }).Bokeh; // BokehJS puts itself there
  // BokehJS is the page's Bokeh itself, or one of several under their version numbers, or both.
  const numbers = Object.keys(page ?? {}).filter(name => /^\d/.test(name));
  for (const bokeh of new Set([page, ...numbers.map(number => page?.[number])])) {
    if (!isSupported(bokeh)) {
      continue;
    }
    const { default_resolver: known, register_models: add } = bokeh.require('base');
    if (needs !== undefined && known.get(needs) == null) {
      continue;
    }
    // A page may hold those of an older version of this script, from another kernel.
    add(models(bokeh).filter(one => known.get(one.__qualified__) == null));
  }
}

/** A page of Lab may hold older versions, of other notebooks. */
function isSupported(bokeh: unknown): bokeh is IBokehLibrary {
  const version = (bokeh as IBokehLibrary | undefined)?.version;
  const [major, minor] = String(version).split('.').map(Number);
  return major !== undefined && minor !== undefined && (major > 3 || (major === 3 && minor >= 8));
}
