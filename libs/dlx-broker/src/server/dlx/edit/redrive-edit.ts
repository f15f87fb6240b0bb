import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { AmqpError, checkEdited, type Entry, type User, type VirtualHost } from '../../../engine/broker/index.js';
import { type Field, type FieldTable, type Message, messageOf } from '../../../engine/message/index.js';
import { withEditNote } from '../../../platform/history/index.js';
import type { NotEdited } from '../../redrive/index.js';
import type { BodySums } from './bodies.js';
import type { EditOrder } from './edit-order.js';
import { ownHeadersOf } from './edited-message.js';
import { EditPairs } from './edit-pairs.js';
import { patchedBody } from './patched-body.js';

/** A message that takes the place of another one, and the sums of both bodies. */
export interface EditedMessage extends BodySums {
  readonly message: Message;
}

/** A message and the sums of its body and of the new one. */
interface Checked {
  readonly message: Message;
  readonly sums: BodySums;
}

/** A message that was edited: its position, and the sums of both bodies. */
export type EditRow = readonly [position: number, before: string, after: string];

/** The edit of one redrive: makes the new messages, and remembers what the audit log has to tell of them. */
export class RedriveEdit {
  /** Before and after, for the answer of a dry run. */
  readonly pairs: EditPairs | undefined;
  /** What the edit does, without a byte of a body: for lists and for the audit log. */
  readonly json: Readonly<Record<string, unknown>>;
  /** Messages that were edited since the last {@link taken}. */
  #rows: EditRow[] = [];
  #order: EditOrder;
  #checked: Checked | undefined;

  /** @param checked the message whose body was checked before the redrive began */
  constructor(
    order: EditOrder,
    readonly user: User,
    isDry: boolean,
    checked?: Checked,
  ) {
    this.pairs = isDry ? new EditPairs() : undefined;
    this.#order = order;
    this.#checked = checked;
    const { body, patch, headers, keepsOriginal } = order;
    // Once: a list of redrives shows it, and a body may have megabytes.
    this.json = {
      payload_sha256: body === undefined ? null : (checked?.sums.after ?? sumOf(body)),
      merge_patch_sha256: patch === undefined ? null : sumOf(Buffer.from(JSON.stringify(patch))),
      headers: [...headers.keys()],
      keep_original: keepsOriginal,
    };
  }

  /** Nothing is edited any more. Ended redrives are remembered, and their bodies must not be. */
  end(): void {
    this.#checked = undefined;
    this.#order = { ...this.#order, body: undefined, patch: undefined, headers: new Map() };
  }

  /** The new message, or the reason why this one stays. */
  of({ message, position }: Entry, { profile }: VirtualHost, now: number): EditedMessage | NotEdited {
    const old = bodyOf(message);
    if (old === undefined) return 'unreadable';
    const { user } = this;
    const order = this.#order;
    const body = order.patch === undefined ? (order.body ?? old) : patchedBody(old, message.own, order.patch);
    if (typeof body === 'string') return body;
    const headers = changedHeaders(ownHeadersOf(message), order.headers);
    if (headers === undefined && sameBytes(body, old)) return 'unchanged';
    const sums = this.#checked?.message === message ? this.#checked.sums : sumsOf(old, body);
    const noted = withEditNote(headers ?? ownHeadersOf(message), message, {
      by: user.name,
      at: now,
      sha256: sums.before,
    });
    const properties = { ...message.properties, userId: userIdOf(message, user), headers: noted };
    const edited = messageOf(
      message.exchange,
      message.routingKey,
      properties,
      body === old ? message : body,
      undefined,
    );
    try {
      checkEdited(edited, user, profile.maxMessageSize);
    } catch (error) {
      if (!(error instanceof AmqpError)) throw error;
      return edited.size > profile.maxMessageSize ? 'too_large' : 'invalid';
    }
    this.pairs?.add(position, message, edited, order.headers);
    return { message: edited, ...sums };
  }

  /** Remembers a message that was moved. */
  moved(position: number, { before, after }: EditedMessage): void {
    this.#rows.push([position, before, after]);
  }

  /** The messages that were edited since the last call, for the audit log. */
  taken(): readonly EditRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }
}

/** The broker vouches for the user id of a message, so another user's name is not kept on what this user wrote (rule K7). */
const userIdOf = ({ own: { userId } }: Message, { name, tags }: User): string | undefined =>
  userId === name || tags.includes('impersonator') ? userId : undefined;

/** @returns undefined if the edit changes no header */
function changedHeaders(
  headers: FieldTable | undefined,
  changes: ReadonlyMap<string, Field | undefined>,
): FieldTable | undefined {
  const changed = new Map<string, Field>(headers);
  let isChanged = false;
  for (const [name, field] of changes) {
    if (isDeepStrictEqual(changed.get(name), field)) continue;
    isChanged = true;
    if (field === undefined) changed.delete(name);
    else changed.set(name, field);
  }
  return isChanged ? changed : undefined;
}

function bodyOf(message: Message): Uint8Array | undefined {
  try {
    return message.body;
  } catch {
    return undefined;
  }
}

const sameBytes = (one: Uint8Array, other: Uint8Array): boolean =>
  one === other || (one.length === other.length && Buffer.compare(one, other) === 0);

const sumsOf = (before: Uint8Array, after: Uint8Array): BodySums => {
  const sum = sumOf(before);
  return { before: sum, after: after === before ? sum : sumOf(after) };
};

const sumOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
