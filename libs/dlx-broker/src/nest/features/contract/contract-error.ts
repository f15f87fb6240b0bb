import { shownText } from '../../../platform/index.js';
import { markUnretryable } from '../../retry/index.js';

/** The most issues that an error keeps, and the most characters of each text. A payload may have any number of faults. */
const mostIssues = 20;
const longestPath = 100;
const longestMessage = 200;
/** The text of the error ends after the issue that reaches this length, so that logs and headers have all of it. */
const longText = 600;

/**
 * A payload or an answer is not what its contract says. `DlxClient` fails with it before anything is published. A handler that is to
 * get such a message is not called: another attempt cannot cure it, so the message is parked or dead-lettered at once.
 */
export class ContractError extends Error {
  override readonly name = 'ContractError';
  /** What the schema says against the value: the first issues, at most 20. */
  readonly issues: readonly {
    /** The way to the value inside of the payload, with dots: `lines.0.price`. Empty: the payload itself. */
    readonly path: string;
    readonly message: string;
  }[];

  /**
   * @param what `the payload of 'order.created'`
   * @param pattern the routing key of the contract
   * @param found what the schema answered, unchecked
   */
  constructor(
    what: string,
    readonly pattern: string,
    found: readonly unknown[],
  ) {
    const issues = found.slice(0, mostIssues).map(issueOf);
    super(`${what} breaks its contract: ${textOf(issues, found.length)}`);
    this.issues = issues;
    markUnretryable(this);
  }
}

type Issue = ContractError['issues'][number];

function issueOf(found: unknown): Issue {
  const { message, path } = (found ?? {}) as { readonly message?: unknown; readonly path?: unknown };
  const way = Array.isArray(path) ? path.slice(0, longestPath).map(keyOf).join('.') : '';
  const text = typeof message === 'string' && message !== '' ? message : 'is not valid';
  return { path: shownText(way, longestPath), message: shownText(text, longestMessage) };
}

/** A part of a path is a key, or an object with a key. */
const keyOf = (part: unknown): string =>
  String(typeof part === 'object' && part !== null ? (part as { readonly key?: unknown }).key : part);

function textOf(issues: readonly Issue[], found: number): string {
  let text = '';
  let shown = 0;
  for (const { path, message } of issues) {
    if (text.length > longText) break;
    text += `${shown === 0 ? '' : '; '}${path === '' ? message : `${path}: ${message}`}`;
    shown++;
  }
  if (shown === 0) return 'its schema names no issue';
  return shown < found ? `${text}; and ${found - shown} more` : text;
}
