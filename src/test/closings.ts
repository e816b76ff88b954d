/** What is said of a closed cluster; the same in Lab and in tabs. */

export interface IClosing {
  readonly what: string;
  readonly at: Date;
  readonly reason: string;
  readonly words: string;
}

export const CLOSINGS: readonly IClosing[] = [
  {
    what: 'since when, where that is all',
    at: new Date(2026, 0, 5, 9, 5, 59),
    reason: '',
    words: 'Cluster closed at 09:05 · history kept until the kernel stops'
  },
  {
    what: 'since when, and why',
    at: new Date(2026, 0, 5, 14, 2, 10),
    reason: 'The client was closed; its cluster may still run.',
    words: 'Ended at 14:02 · The client was closed; its cluster may still run.'
  }
];
