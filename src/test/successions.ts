/** Which of the new clusters of a notebook takes over which old one's; the same in Lab and in tabs. */

export interface ISuccession {
  readonly what: string;
  /** The old clusters, in the order in which they began; the order of their names is another. */
  readonly old: readonly string[];
  /** What is listed, time after time. */
  readonly lists: readonly (readonly string[])[];
  /** Which clusters those that showed the old ones show in the end. */
  readonly shown: readonly string[];
}

export const SUCCESSIONS: readonly ISuccession[] = [
  {
    what: 'one goes on with the newest of several',
    old: ['old'],
    lists: [['next', 'after', 'last']],
    shown: ['last']
  },
  {
    what: 'the first goes on with the only one, the second waits',
    old: ['second', 'first'],
    lists: [['next']],
    shown: ['next', 'first']
  },
  {
    what: 'the second goes on with the one after it',
    old: ['second', 'first'],
    lists: [['next'], ['next', 'after']],
    shown: ['next', 'after']
  },
  {
    what: 'each goes on with one of two that come at once',
    old: ['second', 'first'],
    lists: [['next', 'after']],
    shown: ['next', 'after']
  },
  {
    what: 'two go on with the newest two of three',
    old: ['second', 'first'],
    lists: [['next', 'after', 'last']],
    shown: ['after', 'last']
  },
  {
    what: 'the last of three waits where there are two',
    old: ['third', 'second', 'first'],
    lists: [['next', 'after']],
    shown: ['next', 'after', 'first']
  },
  {
    what: 'the first goes on first when the next one ends too',
    old: ['second', 'first'],
    lists: [['next'], [], ['after']],
    shown: ['after', 'first']
  },
  {
    what: 'the second goes on where the first lives',
    old: ['second', 'first'],
    lists: [['second', 'next']],
    shown: ['second', 'next']
  }
];
