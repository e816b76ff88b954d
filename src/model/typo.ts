/** Whether somebody who typed one word meant another; pure. */

/** A word this short has too many neighbours. */
const SHORTEST = 4;

/** From this length on a word may have two slips. */
const LONG = 8;

/**
 * True when the beginning of `word` differs from what was typed by a slip or, in long words, two.
 *
 * A slip is a letter that is missing, added, wrong, or in the place of its neighbour
 * (the optimal string alignment distance).
 */
export function isNearly(typed: string, word: string): boolean {
  if (typed.length < SHORTEST || typed[0] !== word[0]) {
    return false; // nobody misses the first letter, and most chance hits do
  }
  const allowed = typed.length < LONG ? 1 : 2;
  const longest = Math.min(word.length, typed.length + allowed);
  for (let length = typed.length - allowed; length <= longest; length += 1) {
    if (slips(typed, word.slice(0, length)) <= allowed) {
      return true;
    }
  }
  return false;
}

function slips(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(
        Math.min(
          at(last, j) + 1,
          at(row, j - 1) + 1,
          at(last, j - 1) + (isSame ? 0 : 1),
          isSwapped ? at(before, j - 2) + 1 : Infinity
        )
      );
    }
    [before, last] = [last, row];
  }
  return at(last, b.length);
}

/** What lies outside of the table is out of reach. */
function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
