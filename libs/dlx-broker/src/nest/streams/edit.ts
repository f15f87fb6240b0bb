import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { encodePayload, isLockedHeader, UnencodablePayloadError, withEditNote } from '../../platform/history/index.js';
import {
  checkedFieldTable,
  type Field,
  type FieldTable,
  type Message,
  messageOf,
  type Plain,
  withHeaders,
} from '../../engine/message/index.js';
import { refused } from '../../platform/options/index.js';
import { checkOptions } from './given.js';

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

/** Who edited, for the header `dlx-edited-by`: code of the application, and no user. */
const editor = 'application';

const known: readonly string[] = ['payload', 'headers'] satisfies readonly (keyof Edit)[];

/**
 * The message that an edit makes of another one. Deaths are left out: a redriven message has none.
 * @param now milliseconds since 1970
 * @throws EditRefusedError if it changes nothing, for a locked header, and for a payload that cannot be written
 * @throws DlxConfigurationError for a value that is no edit
 */
export function editedLetter(message: Message, edit: Edit, now: number): Message {
  checkOptions(edit, known, 'edit', "write { payload } or { headers: { tenant: 'acme', old: null } }");
  const { own, notes, body } = message;
  const before = notes === undefined ? own.headers : notes.withDelay(own.headers);
  const headers = edit.headers === undefined ? undefined : changedHeaders(before, edit.headers);
  const bytes = edit.payload === undefined ? body : bytesOf(message, edit.payload);
  if (headers === undefined && Buffer.compare(bytes, body) === 0) {
    throw new EditRefusedError('the edit changes nothing', true);
  }
  const sha256 = createHash('sha256').update(body).digest('hex');
  const noted = withEditNote(headers ?? before, message, { by: editor, at: now, sha256 });
  return messageOf(message.exchange, message.routingKey, withHeaders(own, noted, own.expiration), bytes, undefined);
}

function bytesOf(message: Message, payload: unknown): Uint8Array {
  try {
    return encodePayload(message, payload);
  } catch (error) {
    if (!(error instanceof UnencodablePayloadError)) throw error;
    throw new EditRefusedError(error.message, false, { cause: error });
  }
}

/** @returns undefined if no header changes */
function changedHeaders(before: FieldTable | undefined, changes: NonNullable<Edit['headers']>): FieldTable | undefined {
  if (typeof changes !== 'object' || changes === null || Array.isArray(changes)) {
    throw refused(changes, 'edit: headers', "is no object; write { tenant: 'acme', old: null }");
  }
  const headers = new Map<string, Field>(before);
  const set: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  let isChanged = false;
  for (const [name, value] of Object.entries(changes)) {
    if (isLockedHeader(name)) {
      throw new EditRefusedError(`header '${name}' is locked; dlx-..., x-..., CC and BCC belong to the broker`);
    }
    if (value === null) isChanged = headers.delete(name) || isChanged;
    else if (value !== undefined) set[name] = value;
  }
  const refuse = (path: string, fault: string): Error => new EditRefusedError(`header '${path}' ${fault}`);
  for (const [name, field] of checkedFieldTable(set, { skipUndefined: true, refuse })) {
    if (isDeepStrictEqual(headers.get(name), field)) continue;
    headers.set(name, field);
    isChanged = true;
  }
  return isChanged ? headers : undefined;
}
