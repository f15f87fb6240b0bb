/** One attempt to match a text, with the steps that are left for it. */
export interface Attempt {
  readonly text: string;
  steps: number;
  depth: number;
  /** Start and end of the text that each group matched. */
  readonly groups: (readonly [from: number, to: number] | undefined)[];
}

/** The rest of the pattern: true when it matches from `at`. */
type Then = (attempt: Attempt, at: number) => boolean;

/** A piece of a pattern: tries all ways to match from `at`, until the rest of the pattern matches, too. */
export type Piece = (attempt: Attempt, at: number, then: Then) => boolean;

/** Whether a character fits. */
export type Fits = (code: number) => boolean;

/** The deepest recursion of one attempt. */
const maxDepth = 1_000;

/** Counts one step, and goes on with `then`. After too many steps it fails, and with it the whole attempt. */
function nextStep(attempt: Attempt, at: number, then: Then): boolean {
  if (--attempt.steps < 0 || attempt.depth >= maxDepth) {
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
    return nextStep(attempt, end, then);
  };

export const assertion =
  (holds: (text: string, at: number) => boolean): Piece =>
  (attempt, at, then) =>
    holds(attempt.text, at) && nextStep(attempt, at, then);

export function sequence(pieces: readonly Piece[]): Piece {
  if (pieces.length === 1) return pieces[0]!;
  return (attempt, at, then) => {
    const from =
      (index: number): Then =>
      (same, here) =>
        index === pieces.length ? then(same, here) : pieces[index]!(same, here, from(index + 1));
    return nextStep(attempt, at, from(0));
  };
}

export function anyOf(branches: readonly Piece[]): Piece {
  if (branches.length === 1) return branches[0]!;
  return (attempt, at, then) =>
    branches.some((branch) => nextStep(attempt, at, (same, here) => branch(same, here, then)));
}

/** A group that later pieces may refer to. */
export const capture =
  (group: number, piece: Piece): Piece =>
  (attempt, at, then) => {
    const before = attempt.groups[group];
    const matched = piece(attempt, at, (same, end) => {
      const previous = same.groups[group];
      same.groups[group] = [at, end];
      if (nextStep(same, end, then)) return true;
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
    return fold(text.slice(taken[0], taken[1])) === fold(text.slice(at, end)) && nextStep(attempt, end, then);
  };

/** Only the first way in which the piece matches is tried. */
export const atomic =
  (piece: Piece): Piece =>
  (attempt, at, then) => {
    const end = firstEnd(piece, attempt, at);
    return end !== undefined && nextStep(attempt, end, then);
  };

export const lookAhead =
  (piece: Piece, wanted: boolean): Piece =>
  (attempt, at, then) =>
    (firstEnd(piece, attempt, at) !== undefined) === wanted && nextStep(attempt, at, then);

export const lookBehind =
  (piece: Piece, wanted: boolean): Piece =>
  (attempt, at, then) => {
    let found = false;
    for (let from = at; from >= 0 && !found; from--) {
      found = nextStep(attempt, from, (same, here) => piece(same, here, (_, end) => end === at));
    }
    return found === wanted && nextStep(attempt, at, then);
  };

function firstEnd(piece: Piece, attempt: Attempt, at: number): number | undefined {
  let found: number | undefined;
  nextStep(attempt, at, (same, here) =>
    piece(same, here, (_, end) => {
      found = end;
      return true;
    }),
  );
  return found;
}

/** How often a piece may match in a row; `Infinity` has no limit. */
export interface Times {
  readonly min: number;
  readonly max: number;
  readonly greedy: boolean;
}

/** Repeats a single character. A loop, so that a long text needs no deep recursion. */
export const repeatCharacter =
  (fits: Fits, { min, max, greedy }: Times): Piece =>
  (attempt, at, then) => {
    const { text } = attempt;
    const available = Math.min(max, text.length - at);
    let count = 0;
    const limit = greedy ? available : Math.min(min, available);
    while (count < limit && fits(text.charCodeAt(at + count))) count++;
    if (count < min) return false;
    if (greedy) {
      for (; count >= min; count--) if (nextStep(attempt, at + count, then)) return true;
      return false;
    }
    for (;;) {
      if (nextStep(attempt, at + count, then)) return true;
      if (attempt.steps < 0 || count >= available || !fits(text.charCodeAt(at + count))) return false;
      count++;
    }
  };

export const repeat = (piece: Piece, { min, max, greedy }: Times): Piece => {
  return (attempt, at, then) => {
    const from =
      (count: number, before: number): Then =>
      (same, here) => {
        // A piece that matched no character would match none again, without end.
        const again = (): boolean =>
          count < max && (count < min || here !== before) && nextStep(same, here, more(count, here));
        const enough = (): boolean => count >= min && then(same, here);
        if (here === before && count < min) return then(same, here);
        return greedy ? again() || enough() : enough() || again();
      };
    const more =
      (count: number, here: number): Then =>
      (same) =>
        piece(same, here, from(count + 1, here));
    return nextStep(attempt, at, from(0, -1));
  };
};
