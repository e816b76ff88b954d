/** Which newer cluster a plot of an older one is offered; the same in Lab and in tabs. */

import type { IDashboard } from '../wire';

/** A cluster of the kernel `k`, but for what is said. */
export type Listed = Partial<IDashboard> & Pick<IDashboard, 'id'>;

export interface INewerCase {
  readonly what: string;
  /** What is listed when the plot comes to its own cluster, in the order in which they began. */
  readonly first: readonly Listed[];
  /** What is listed after that, time after time. */
  readonly then: readonly (readonly Listed[])[];
  /** The id of what is offered in the end. */
  readonly offered: string | null;
}

const own: Listed = { id: 'own' };
const b: Listed = { id: 'b' };
const c: Listed = { id: 'c' };

export const NEWERS: readonly INewerCase[] = [
  {
    what: 'the newest of those that began after its own',
    first: [own],
    then: [
      [own, b],
      [own, b, c]
    ],
    offered: 'c'
  },
  {
    what: 'the one before that where the newest has ended',
    first: [own],
    then: [
      [own, b, c],
      [own, b, { id: 'c', state: 'stale' }]
    ],
    offered: 'b'
  },
  { what: 'none that began before its own', first: [own], then: [[b, own]], offered: null },
  {
    what: 'none of another kernel',
    first: [own],
    then: [[own, { id: 'b', kernel_id: 'else' }]],
    offered: null
  },
  {
    what: 'none of no kernel where its own has none',
    first: [{ id: 'own', kernel_id: null }],
    then: [
      [
        { id: 'own', kernel_id: null },
        { id: 'b', kernel_id: null }
      ]
    ],
    offered: null
  },
  {
    what: 'none without the plot',
    first: [own],
    then: [[own, { id: 'b', plots: [] }]],
    offered: null
  },
  {
    what: 'none that does not answer',
    first: [own],
    then: [[own, { id: 'b', state: 'unreachable' }]],
    offered: null
  },
  {
    what: 'no stock dashboard',
    first: [own],
    then: [[own, { id: 'b', kind: 'stock' }]],
    offered: null
  },
  {
    what: 'none that was there when it came, but one more',
    first: [own, b],
    then: [
      [own, b],
      [own, b, c]
    ],
    offered: 'c'
  },
  { what: 'none that was there when it came', first: [own, b], then: [[own, b]], offered: null },
  {
    what: 'none that was there when it came, and did not answer then',
    first: [own, { id: 'b', state: 'unreachable' }],
    then: [[own, b]],
    offered: null
  },
  {
    what: 'none that was there when it came, and had no plots yet',
    first: [own, { id: 'b', plots: [] }],
    then: [[own, b]],
    offered: null
  },
  {
    what: 'one also where its own does not answer',
    first: [own],
    then: [[{ id: 'own', state: 'unreachable' }, b]],
    offered: 'b'
  },
  {
    what: 'what it was offered before its own has ended',
    first: [own],
    then: [
      [own, b],
      [{ id: 'own', state: 'stale' }, b]
    ],
    offered: 'b'
  }
];
