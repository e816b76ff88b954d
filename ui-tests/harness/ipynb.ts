// Notebook files for tests, and the code that several of them run.
import * as fs from 'node:fs';

/** A small real cluster: four threads, no fixed ports; in the kernel, which is there soonest. */
export const CLUSTER = `from dask.distributed import Client
client = Client(n_workers=2, threads_per_worker=2, processes=False, dashboard_address=":0")`;

/** Work for about a minute on that cluster; the cell returns at once. */
export const WORK = `import time
def crunch(i):
    time.sleep(0.05)
    return i
futures = client.map(crunch, range(4000), pure=False)`;

/** The end of that cluster and of its client. */
export const CLOSE = `cluster = client.cluster
client.close()
cluster.close()`;

/** Write a notebook (format 4.5) with these code cells. */
export function writeNotebook(file: string, cells: string[]): void {
  const notebook = {
    cells: cells.map((source, index) => ({
      cell_type: 'code',
      execution_count: null,
      id: `cell-${index}`,
      metadata: {},
      outputs: [],
      source
    })),
    metadata: {
      kernelspec: { display_name: 'Python 3', language: 'python', name: 'python3' },
      language_info: { name: 'python' }
    },
    nbformat: 4,
    nbformat_minor: 5
  };
  fs.writeFileSync(file, JSON.stringify(notebook, null, 1));
}
