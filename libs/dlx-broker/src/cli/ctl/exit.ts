import { shownLines } from '../../host/index.js';

/** How a command ends, as rabbitmqctl does (the numbers are those of sysexits.h). */
export const exit = {
  ok: 0,
  /** The command line is wrong. */
  usage: 64,
  /** What was named does not exist, or what was given cannot be read. */
  data: 65,
  noUser: 67,
  /** The broker cannot be reached, or it refused. */
  unavailable: 69,
  /** An internal fault, and other failures for which rabbitmqctl has this code. */
  software: 70,
  /** It took too long. */
  temporary: 75,
} as const;

export type ExitCode = (typeof exit)[keyof typeof exit];

/** Ends a command with an exit code. The message goes to standard error. */
export class CtlFailure extends Error {
  override readonly name: string = 'CtlFailure';

  /**
   * @param text the error. It may contain names of clients and answers of a broker, so control characters are escaped
   * @param help of this command, shown below as it is
   * @param inJson the text for `--formatter json`; by default `text`
   */
  constructor(
    readonly code: ExitCode,
    text: string,
    help = '',
    readonly inJson?: string,
  ) {
    super(shownLines(text) + help);
  }
}

/** The command line is wrong. The usage follows the error. */
export class BadArguments extends CtlFailure {
  override readonly name = 'BadArguments';
}

/** The common form of a refusal: `Error:` and what the broker said. */
export const refused = (code: ExitCode, text: string, inJson?: string): CtlFailure =>
  new CtlFailure(code, `Error:\n${text}`, '', inJson);

/**
 * The same failure as `--formatter json` shows it: rabbitmqctl has an object for a few, which all end with one code.
 */
export function failureInJson(failure: CtlFailure, node: string): CtlFailure {
  const { inJson: message } = failure;
  if (message === undefined) return failure;
  return new CtlFailure(exit.unavailable, JSON.stringify({ message, node, result: 'error' }));
}

/** Where RabbitMQ shows the term itself. */
export const noSuchUser = (name: string): CtlFailure => refused(exit.unavailable, `{:no_such_user, "${name}"}`);

export const badArgument = (text: string): BadArguments => new BadArguments(exit.data, `Bad argument: ${text}`);

/** The refusal for policies and limits as well, which are parameters. */
export const noParameter = (): CtlFailure => refused(exit.unavailable, 'Parameter does not exist');

export const noVhost = (vhost: string): CtlFailure =>
  new CtlFailure(exit.data, `Virtual host '${vhost}' does not exist`);
