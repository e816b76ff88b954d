/** Titles and sentences for the plots of Dask's own dashboard, which tells only their routes. */

import type { IPlot } from './protocol';

/** By name, in the order of lists: a title, where Dask's is no word, and what the plot shows. */
const TEXTS: Readonly<Record<string, readonly [title: string, description: string]>> = {
  'task-stream': ['', 'What each thread did, and when: a rectangle a task'],
  progress: ['', 'How many tasks of each function are done, wait, run or have failed'],
  graph: ['Task Graph', 'Every task and what it depends on, coloured by state'],
  groups: ['Task Groups Graph', 'Groups of tasks, with time, memory and progress of each'],
  'group-progress': ['Task Group Progress', 'How many threads worked on each group over time'],
  'workers-memory': ['', 'Memory of each worker: managed, unmanaged and spilled to disk'],
  'cluster-memory': ['', 'Memory of all workers together, with what is spilled to disk'],
  'workers-transfer-bytes': ['Data Transfer', 'Bytes that workers send and receive at this moment'],
  cpu: ['CPU', 'How busy the processors of each worker are'],
  nprocessing: ['Tasks Processing', 'How many tasks each worker has been given'],
  occupancy: ['', 'How long each worker is expected to be busy with what it has'],
  workers: ['', 'A table of all workers with CPU, memory and traffic'],
  exceptions: ['', 'Tasks that have failed, with error and traceback'],
  'bandwidth-types': ['Bandwidth by Type', 'How fast data of each type went between workers'],
  'bandwidth-workers': [
    'Bandwidth by Workers',
    'How fast data went from each worker to each other'
  ],
  'workers-network': ['Network', 'What each worker’s machine reads and writes on the network'],
  'workers-disk': ['Disk', 'What each worker’s machine reads and writes on its disks'],
  'workers-network-timeseries': ['Network over Time', 'Traffic of the workers’ machines over time'],
  'workers-cpu-timeseries': ['CPU over Time', 'How busy the workers were over time'],
  'workers-memory-timeseries': ['Memory over Time', 'Memory of the workers over time'],
  'workers-disk-timeseries': ['Disk over Time', 'Traffic of the workers’ disks over time'],
  'memory-by-key': ['', 'Which functions’ results fill the memory of the workers'],
  'compute-time-per-key': ['', 'Which functions took the time of the workers'],
  'aggregate-time-per-action': ['', 'How time went to computing, transfers, disk and spilling'],
  'scheduler-system': ['', 'CPU, memory and traffic of the scheduler itself'],
  contention: ['', 'How much event loops and interpreter locks keep scheduler and workers waiting'],
  'fine-performance-metrics': ['', 'Where the time of each function went, in detail'],
  profile: ['', 'In which lines of code the workers’ threads spend their time'],
  'profile-server': ['Profile (Event Loop)', 'Where the scheduler’s event loop spends its time'],
  'gpu-memory': ['GPU Memory', 'Memory of each worker’s GPU'],
  'gpu-utilization': ['GPU Utilization', 'How busy each worker’s GPU is'],
  'rmm-memory': ['RMM Memory', 'Memory that the RAPIDS memory manager has for each worker'],
  'cluster-map': ['', 'The workers in a circle, and the data that goes between them']
};

const ORDER = Object.keys(TEXTS);

/** Return the plots of Dask's own dashboard with titles and sentences for people, the usual first. */
export function described(plots: readonly IPlot[]): readonly IPlot[] {
  const rank = ({ name }: IPlot): number =>
    (ORDER.indexOf(name) + ORDER.length + 1) % (ORDER.length + 1);
  return [...plots]
    .sort((a, b) => rank(a) - rank(b))
    .map(plot => {
      const [title, description = ''] = TEXTS[plot.name] ?? [];
      return {
        ...plot,
        title: title || plot.title,
        description: plot.description || description
      };
    });
}
