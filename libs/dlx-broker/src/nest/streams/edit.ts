import { editedMessage, encodePayload, UnencodablePayloadError } from '../../platform/history/index.js';
import type { Message, Plain } from '../../engine/message/index.js';
import { optionsOf, refused } from '../../platform/options/index.js';

/** What is changed in a letter that is redriven. Everything else stays, the message id too. */
export interface Edit {
  /**
   * The new payload. It is written as the content type of the letter says: as JSON or as plain text. Bytes become the body as they are. With
   * `{ pattern, data, id }` of Nest's transporters the payload is all of it, and not `data` alone.
   */
  readonly payload?: unknown;
  /** Headers by their names; null removes one. Those that begin with `dlx-` or `x-`, and `CC` and `BCC`, are locked. */
  readonly headers?: Readonly<Record<string, Plain | null>>;
}

/** An edit of a letter that was not made. The letter stays as it is. */
export class EditRefusedError extends Error {
  override readonly name = 'EditRefusedError';

  constructor(
    reason: string,
    /** True if the edit changes nothing. */
    readonly isUnchanged = false,
    options?: ErrorOptions,
  ) {
    super(`a letter was not edited: ${reason}`, options);
  }

  /** Its fields with the message, which JSON would leave out. */
  toJSON(): object {
    return { ...this, message: this.message };
  }
}

const known: readonly string[] = ['payload', 'headers'] satisfies readonly (keyof Edit)[];

/**
 * The message that an edit makes of another one. Deaths are left out: a redriven message has none.
 * @param now milliseconds since 1970
 * @throws EditRefusedError if it changes nothing, for a locked header, and for a payload that cannot be written
 * @throws DlxConfigurationError for a value that is no edit
 */
export function editedLetter(message: Message, edit: Edit, now: number): Message {
  optionsOf(edit, 'edit', "write { payload } or { headers: { tenant: 'acme', old: null } }", known);
  const { payload, headers = {} } = edit;
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) {
    throw refused(headers, 'edit: headers', "is no object; write { tenant: 'acme', old: null }");
  }
  const edited = editedMessage(message, {
    body: payload === undefined ? undefined : bytesOf(message, payload),
    headers,
    by: 'application',
    at: now,
    refuse: (header, fault) => new EditRefusedError(`header '${header}' ${fault}`),
  });
  if (edited === undefined) throw new EditRefusedError('the edit changes nothing', true);
  return edited;
}

function bytesOf(message: Message, payload: unknown): Uint8Array {
  try {
    return encodePayload(message, payload);
  } catch (error) {
    if (!(error instanceof UnencodablePayloadError)) throw error;
    throw new EditRefusedError(error.message, false, { cause: error });
  }
}
