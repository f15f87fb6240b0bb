import { shownLines } from '../../platform/index.js';

/** Exit codes: those of sysexits.h. */
export const exit = {
  ok: 0,
  /** The command line is wrong. */
  usage: 64,
  /** What was named does not exist, or what was given cannot be read. */
  data: 65,
  /** The broker cannot be reached, or it refused. */
  unavailable: 69,
  /** An internal fault. */
  software: 70,
  /** It took too long. */
  temporary: 75,
} as const;

export type ExitCode = (typeof exit)[keyof typeof exit];

/** Ends a command with an exit code. The message goes to standard error. */
export class CtlFailure extends Error {
  override readonly name = 'CtlFailure';

  /** @param text the error. It may contain names of clients and answers of a broker, so control characters are escaped */
  constructor(
    readonly code: ExitCode,
    text: string,
  ) {
    super(shownLines(text));
  }
}
