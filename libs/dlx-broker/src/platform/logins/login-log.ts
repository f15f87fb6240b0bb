import { networkOf } from './login-throttle.js';
import { cutText, shownText } from '../index.js';

/** The largest number of lines in a span of time, and the span in milliseconds. */
const most = { lines: 60, ofNetwork: 10, span: 60_000 };
/** Characters of a user's name that a line shows. */
const longestName = 64;

/** A login that was refused. */
export interface RefusedLogin {
  /** `PLAIN`, `AMQPLAIN`; `HTTP` for the management API. */
  readonly mechanism: string;
  readonly user: string;
  readonly address: string;
  readonly why: string;
}

/**
 * Writes a line for each refused login. The number of lines is limited, so an attacker cannot fill the log. The name is cut and
 * escaped. A line never has a password.
 */
export class LoginLog {
  readonly #now: () => number;
  readonly #notice: (text: string) => void;
  #since = -Infinity;
  #lines = 0;
  #left = 0;
  /** Lines of this span, by network. */
  readonly #by = new Map<string, number>();

  /** @param now the time in milliseconds @param notice gets the lines */
  constructor(now: () => number, notice: (text: string) => void) {
    this.#now = now;
    this.#notice = notice;
  }

  refused({ mechanism, user, address, why }: RefusedLogin): void {
    this.#beginSpan();
    const network = networkOf(address);
    const lines = (this.#by.get(network) ?? 0) + 1;
    if (this.#lines >= most.lines || lines > most.ofNetwork) return void this.#left++;
    this.#lines++;
    this.#by.set(network, lines);
    // In quotes, cut and escaped: the client chose the name.
    const name = shownText(JSON.stringify(cutText(user, longestName)));
    this.#notice(`${shownText(mechanism, longestName)} login refused: user ${name} at ${address} - ${why}`);
  }

  /** Begins a new span with a line about the lines that the last span left out. */
  #beginSpan(): void {
    const now = this.#now();
    if (now - this.#since < most.span) return;
    if (this.#left > 0) this.#notice(`${this.#left} more refused logins in the minute before have no line`);
    this.#since = now;
    this.#lines = this.#left = 0;
    this.#by.clear();
  }
}
