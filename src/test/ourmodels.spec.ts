/** The scripts with our own models, in a page that holds BokehJS of several versions. */

/** What the scripts need of a BokehJS with its tables; keeps the names of what is registered. */
class Library {
  readonly version = '3.9.2';
  readonly names = ['StringFormatter'];

  require = (module: string): object => {
    if (module !== 'base') {
      const Model = Object.assign(class extends Object {}, { define: () => undefined });
      return new Proxy({}, { get: () => Model });
    }
    return {
      default_resolver: { get: (name: string) => (this.names.includes(name) ? {} : null) },
      register_models: (models: readonly { __qualified__: string }[]) =>
        this.names.push(...models.map(one => one.__qualified__))
    };
  };
}

/** One that knows neither the register nor the models that ours has. */
function older(version: string): object {
  return { version, require: () => ({}) };
}

describe.each([
  ['tables', 'dask_diag_lab.views.table_cells', ['TextCell', 'SteadyColumn']],
  ['index', 'dask_diag_lab.views.models', ['StreamBlocks', 'PlainRenderer']]
])('the script %s', (script, module, [first, second]) => {
  const [model, newer] = [`${module}.${first}`, `${module}.${second}`];
  const page: { Bokeh?: unknown } = window as object; // nobody else's type of it is here
  const run = (): void =>
    void jest.isolateModules(() => void jest.requireActual(`../models/${script}`));

  afterEach(() => delete page.Bokeh);

  it('adds its models once, also in a page with BokehJS of other notebooks', () => {
    const ours = new Library();
    page.Bokeh = { ...older('2.4.3'), '3.1.0': older('3.1.0'), '3.9.2': ours };
    run();
    run();
    expect(ours.names.filter(name => name === model)).toEqual([model]);
  });

  it('adds what an older version of it lacks, and nothing twice', () => {
    const ours = new Library();
    ours.names.push(model);
    page.Bokeh = ours;
    run();
    expect(ours.names).toContain(newer);
    expect(new Set(ours.names).size).toBe(ours.names.length);
  });
});
