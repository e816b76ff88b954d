/** What a task stream draws of blocks that are narrower than a pixel. */

import { pixelColumns } from '../models/stream';

/** A task: its row, when it began, how long it took (ms), and its colour. */
type Task = readonly [row: number, start: number, duration: number, code: number];

/** Return what is drawn of tasks where time 0 is at `origin` (px). */
function drawn(
  tasks: readonly Task[],
  perMs: number,
  origin = 0
): { sx: number; sy: number; height: number; code: number }[] {
  const at = {
    sleft: Float32Array.from(tasks, ([, start]) => origin + start * perMs),
    sright: Float32Array.from(tasks, ([, start, duration]) => origin + (start + duration) * perMs),
    sy: tasks.map(([row]) => 20 * row),
    y: tasks.map(([row]) => row),
    height: { get: () => 0.8 }
  };
  const blocks: number[][] = [];
  tasks.forEach(([, , , code], i) => (blocks[code] ??= []).push(i));
  return Array.from(pixelColumns(blocks, at, origin), ({ block, ...column }) => ({
    ...column,
    code: tasks[block]![3]
  }));
}

/** Two threads without a rest: for 10 s they take turns at tasks of two functions. */
const turns = (...durations: readonly number[]): Task[] =>
  [0, 1].flatMap(row => {
    const tasks: Task[] = [];
    for (let [i, start] = [row, 0]; start < 10_000; i++) {
      const code = i % durations.length;
      tasks.push([row, start, durations[code]!, code]);
      start += durations[code]!;
    }
    return tasks;
  });

it('short tasks are drawn as high as the share of time that they take, not solid', () => {
  const tasks = Array.from({ length: 1000 }, (_, i): Task => [1, i, 0.22, 0]);
  const columns = drawn(tasks, 0.1, 100);
  expect(columns.map(({ sx }) => sx)).toEqual(Array.from({ length: 100 }, (_, i) => 99.5 + i));
  expect(columns.reduce((sum, { height }) => sum + height, 0) / 100).toBeCloseTo(0.8 * 0.22);
});

it.each([[[4, 8]], [[8, 4, 7, 1.2]], [[1, 19]], [[5, 5]], [[9, 9.1, 3]]])(
  'functions have as much of the pixels as of the time, tasks of %j ms',
  durations => {
    const [tasks, total] = [turns(...durations), durations.reduce((sum, one) => sum + one)];
    const columns = drawn(tasks, 0.04);
    durations.forEach((duration, code) => {
      const own = columns.filter(column => column.code === code);
      expect(Math.abs(own.length / columns.length - duration / total)).toBeLessThan(0.03);
    });
  }
);

it('a time keeps its colour while the picture moves', () => {
  const tasks = turns(4, 8);
  const colors = (origin: number): string[] =>
    drawn(tasks, 0.04, origin).map(
      ({ sx, sy, code }) => `${sy} ${sx - Math.round(origin)} ${code}`
    );
  for (const origin of [0.3, 7.5, -123.77, -399]) {
    expect(colors(origin)).toEqual(colors(0));
  }
});
