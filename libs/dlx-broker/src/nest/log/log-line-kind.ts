/** The levels of Nest's logger, and `off` for no line. */
export type LineLevel = 'error' | 'warn' | 'log' | 'debug' | 'verbose' | 'off';

/** A kind of line in the log. */
export interface LineKind<F extends string> {
  /** The default level. */
  readonly level: LineLevel;
  /** The names of the fields besides `message` and `event`. */
  readonly fields: readonly F[];
  /** What the sentence says, for the docs. */
  readonly says: string;
}

/** Keeps the names of the fields for the compiler, and not the sentence. */
export const line = <F extends string>(kind: LineKind<F>): LineKind<F> => kind;
