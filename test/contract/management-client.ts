import type { TestPolicy } from './driver.js';
import { AdministrationFailure } from './failure.js';

/** The little of the management HTTP API that the tests need to arrange their world. */
export class ManagementClient {
  readonly #url: string;
  readonly #authorization: string;

  /** @param url may name another user and password than those of AMQP */
  constructor(url: string, user: string, password: string) {
    const { origin, username, password: secret } = new URL(url);
    this.#url = origin;
    const login =
      username === '' ? `${user}:${password}` : `${decodeURIComponent(username)}:${decodeURIComponent(secret)}`;
    this.#authorization = `Basic ${Buffer.from(login).toString('base64')}`;
  }

  /**
   * @param path below `/api`
   * @throws AdministrationFailure with the status and reason of any answer that is not a success
   */
  async call(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${this.#url}/api${path}`, {
      method,
      headers: { authorization: this.#authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new AdministrationFailure(response.status, reasonIn(text));
    return text === '' ? undefined : JSON.parse(text);
  }
}

function reasonIn(text: string): string {
  try {
    return plain(String((JSON.parse(text) as { reason?: unknown }).reason));
  } catch {
    return text;
  }
}

/** Without the HTML escapes and the line end that the API puts around some reasons. */
const plain = (reason: string): string => reason.replaceAll('&lt;', '<').replaceAll('&gt;', '>').trimEnd();

/** A policy as the API takes it. */
export const policyBody = ({ pattern, definition, applyTo = 'all', priority = 0 }: TestPolicy) => ({
  pattern,
  definition,
  'apply-to': applyTo,
  priority,
});
