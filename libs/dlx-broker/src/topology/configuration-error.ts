/**
 * A declaration or a policy that can never work, found before any broker is touched. The text names who asked for it,
 * the option, and what to write instead.
 */
export class DlxConfigurationError extends Error {
  override readonly name: string = 'DlxConfigurationError';
}
