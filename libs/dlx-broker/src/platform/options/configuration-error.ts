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
