import { shownText } from '../../../platform/index.js';
import { ServerError, TopologyError } from '../../errors.js';
import { codeOf, textOf } from './calls.js';

/** The place of a declaration, behind the name of what is declared. */
export const byName = (origin: string | undefined): string => (origin === undefined ? '' : ` (${origin})`);

/** What helps against a reply code and its text. */
export type Hint = (code: number, text: string) => string | undefined;

const rightHint: Hint = (code) =>
  code === 403
    ? "give the user of rabbitmq() the right to configure it, or declare it by other means and set option 'declare' to false"
    : undefined;

/** An error of the server as a TopologyError; one of the connection as it is. @param what with the place of its declaration */
export function explained(what: string, error: unknown, hint: Hint = () => undefined): unknown {
  const code = codeOf(error);
  if (code === undefined || code === 541 || code === 506) return error;
  const text = shownText(textOf(error));
  const cause = new ServerError(text, code, { cause: error });
  const advice = hint(code, text) ?? rightHint(code, text);
  return new TopologyError(`cannot declare ${what}: ${text}${advice === undefined ? '' : `; ${advice}`}`, [], {
    cause,
  });
}
