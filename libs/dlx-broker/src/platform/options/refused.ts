/**
 * An invalid declaration, option or policy, found before any command to the broker. The text names where it is written,
 * the option, and what to write instead.
 */
export class DlxConfigurationError extends Error {
  override readonly name: string = 'DlxConfigurationError';

  /** Its fields with the message, which JSON would leave out. */
  toJSON(): object {
    return { ...this, message: this.message };
  }
}

/** Characters of a value that an error text shows. */
const mostShown = 1_000;

/** Names of fields whose values are secrets. */
const secret = /passw|passphrase|secret|token|credential|^(auth|key|pfx)$/i;
/** User and password in an address: `amqp://user:password@host`. */
const userInfo = /\/\/\S*@/g;

/** A value as it appears in an error text: short, without secrets, and never an error itself. */
export function shown(value: unknown): string {
  const text = plainText(value);
  return text.length > mostShown ? `${text.slice(0, mostShown)}...` : text;
}

function plainText(value: unknown): string {
  if (typeof value === 'string') return `'${withoutUser(value)}'`;
  if (typeof value === 'function') return `function ${value.name}`;
  try {
    if (typeof value !== 'object' || value === null) return String(value);
    return JSON.stringify(value, withoutSecrets) ?? 'an object that cannot be shown';
  } catch {
    return 'an object that cannot be shown';
  }
}

const withoutUser = (text: string): string => text.replace(userInfo, '//...@');

function withoutSecrets(name: string, value: unknown): unknown {
  if (secret.test(name) && value !== undefined) return '...';
  return typeof value === 'string' ? withoutUser(value) : value;
}

/** An error that names where a value stands, the value, and what is wrong with it. */
export const refused = (value: unknown, origin: string, why: string): DlxConfigurationError =>
  new DlxConfigurationError(`${origin}: ${shown(value)} ${why}`);

/**
 * Returns the answer of a user's function unless it is a promise. A later rejection of the promise is handled, because it would
 * end the process.
 * @param remedy ends the error
 * @throws DlxConfigurationError naming the function
 */
export function notAPromise<T>(
  answer: T,
  origin: string,
  remedy = 'it has to answer at once, so it cannot be async',
): T {
  if (typeof (answer as { readonly then?: unknown } | null | undefined)?.then !== 'function') return answer;
  Promise.resolve(answer).catch(() => undefined);
  throw new DlxConfigurationError(`${origin} answered a promise; ${remedy}`);
}
