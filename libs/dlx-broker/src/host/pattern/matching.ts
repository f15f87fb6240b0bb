/** One attempt to match a text, with the steps that are left for it. */
export interface Attempt {
  readonly text: string;
  steps: number;
  depth: number;
  /** Start and end of the text that each group matched. */
  readonly groups: (readonly [from: number, to: number] | undefined)[];
}

/** What follows in the pattern: true when the rest matches from here. */
export type Then = (attempt: Attempt, at: number) => boolean;

/** A piece of a pattern: tries all ways to match from `at`, until the rest of the pattern matches, too. */
export type Piece = (attempt: Attempt, at: number, then: Then) => boolean;

/** Whether a character fits. */
export type Fits = (code: number) => boolean;

/** The deepest recursion of one attempt. */
const deepest = 1_000;

/** Counts one step. After too many steps this step fails, and with it the whole attempt. */
export function goOn(attempt: Attempt, at: number, then: Then): boolean {
  if (--attempt.steps < 0 || attempt.depth >= deepest) {
    attempt.steps = -1;
    return false;
  }
  attempt.depth++;
  const matched = then(attempt, at);
  attempt.depth--;
  return matched;
}

/** A sequence of single characters. */
export const characters =
  (tests: readonly Fits[]): Piece =>
  (attempt, at, then) => {
    const end = at + tests.length;
    if (end > attempt.text.length) return false;
    for (let index = 0; index < tests.length; index++) {
      if (!tests[index]!(attempt.text.charCodeAt(at + index))) return false;
    }
    return goOn(attempt, end, then);
  };

export const assertion =
  (holds: (text: string, at: number) => boolean): Piece =>
  (attempt, at, then) =>
    holds(attempt.text, at) && goOn(attempt, at, then);

export function sequence(pieces: readonly Piece[]): Piece {
  if (pieces.length === 1) return pieces[0]!;
  return (attempt, at, then) => {
    const from =
      (index: number): Then =>
      (same, here) =>
        index === pieces.length ? then(same, here) : pieces[index]!(same, here, from(index + 1));
    return goOn(attempt, at, from(0));
  };
}

export function anyOf(branches: readonly Piece[]): Piece {
  if (branches.length === 1) return branches[0]!;
  return (attempt, at, then) => branches.some((branch) => goOn(attempt, at, (same, here) => branch(same, here, then)));
}

/** A group that later pieces may refer to. */
export const capture =
  (group: number, piece: Piece): Piece =>
  (attempt, at, then) => {
    const before = attempt.groups[group];
    const matched = piece(attempt, at, (same, end) => {
      const previous = same.groups[group];
      same.groups[group] = [at, end];
      if (goOn(same, end, then)) return true;
      same.groups[group] = previous;
      return false;
    });
    if (!matched) attempt.groups[group] = before;
    return matched;
  };

export const backreference =
  (group: number, fold: (text: string) => string): Piece =>
  (attempt, at, then) => {
    const taken = attempt.groups[group];
    if (taken === undefined) return false;
    const end = at + taken[1] - taken[0];
    const { text } = attempt;
    return fold(text.slice(taken[0], taken[1])) === fold(text.slice(at, end)) && goOn(attempt, end, then);
  };

/** Its first way to match is its only one. */
export const atomic =
  (piece: Piece): Piece =>
  (attempt, at, then) => {
    const end = firstEnd(piece, attempt, at);
    return end !== undefined && goOn(attempt, end, then);
  };

export const lookAhead =
  (piece: Piece, wanted: boolean): Piece =>
  (attempt, at, then) =>
    (firstEnd(piece, attempt, at) !== undefined) === wanted && goOn(attempt, at, then);

export const lookBehind =
  (piece: Piece, wanted: boolean): Piece =>
  (attempt, at, then) => {
    let found = false;
    for (let from = at; from >= 0 && !found; from--) {
      found = goOn(attempt, from, (same, here) => piece(same, here, (_, end) => end === at));
    }
    return found === wanted && goOn(attempt, at, then);
  };

function firstEnd(piece: Piece, attempt: Attempt, at: number): number | undefined {
  let found: number | undefined;
  goOn(attempt, at, (same, here) =>
    piece(same, here, (_, end) => {
      found = end;
      return true;
    }),
  );
  return found;
}

/** How often; `Infinity` is without end. */
export interface Times {
  readonly least: number;
  readonly most: number;
  readonly greedy: boolean;
}

/** One character again and again: a loop, whatever the length. */
export const repeatCharacter =
  (fits: Fits, { least, most, greedy }: Times): Piece =>
  (attempt, at, then) => {
    const { text } = attempt;
    const longest = Math.min(most, text.length - at);
    let count = 0;
    const limit = greedy ? longest : Math.min(least, longest);
    while (count < limit && fits(text.charCodeAt(at + count))) count++;
    if (count < least) return false;
    if (greedy) {
      for (; count >= least; count--) if (goOn(attempt, at + count, then)) return true;
      return false;
    }
    for (;;) {
      if (goOn(attempt, at + count, then)) return true;
      if (attempt.steps < 0 || count >= longest || !fits(text.charCodeAt(at + count))) return false;
      count++;
    }
  };

export const repeat = (piece: Piece, { least, most, greedy }: Times): Piece => {
  return (attempt, at, then) => {
    const from =
      (count: number, before: number): Then =>
      (same, here) => {
        // What took nothing would do so for ever.
        const again = (): boolean =>
          count < most && (count < least || here !== before) && goOn(same, here, more(count, here));
        const enough = (): boolean => count >= least && then(same, here);
        if (here === before && count < least) return then(same, here);
        return greedy ? again() || enough() : enough() || again();
      };
    const more =
      (count: number, here: number): Then =>
      (same) =>
        piece(same, here, from(count + 1, here));
    return goOn(attempt, at, from(0, -1));
  };
};
