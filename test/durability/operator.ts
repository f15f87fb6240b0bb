import type { Cursor, Entry, Queue, VirtualHost } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { longstr, type Message, messageOf } from '../../libs/dlx-broker/src/engine/message/index.js';
import type { Random } from '../fuzz/random.js';
import { bodyOf } from './bodies.js';
import { describeProperties } from './describe-broker.js';
import { pauseOrResume } from './pause-or-resume.js';

/** The most messages that an operator has on the screen. */
const mostShown = 30;

/** Limits and lives that a policy gives to a queue that is in use. */
const definitions = [
  { 'max-length': 3, overflow: 'drop-head' },
  { 'max-length': 6, overflow: 'reject-publish' },
  { 'max-length-bytes': 3_000, overflow: 'reject-publish-dlx' },
  { 'message-ttl': 60, 'max-length': 10 },
  { expires: 90 },
  { 'delivery-limit': 2 },
] as const;

const deeds = { browse: 6, reread: 3, discard: 2, edit: 3, limit: 1, unlimit: 1, pause: 1 } as const;

export interface OperatorOptions {
  readonly random: Random;
  readonly seen?: (text: string) => void;
  readonly wrong?: (messageId: string) => void;
}

/** What an operator does with queues: pages through them, drops and edits messages, and changes limits. */
export class Operator {
  readonly #cursors = new Map<string, Cursor>();
  /** Messages of earlier pages, which may have left their queues. */
  readonly #shown: Message[] = [];

  constructor(
    readonly vhost: VirtualHost,
    readonly options: OperatorOptions,
    /** The id of a new message. */
    readonly newId: () => string,
  ) {}

  step(name: string): void {
    const { random } = this.options;
    const deed = random.weighted(deeds);
    const queue = this.vhost.queues.get(name);
    if (deed === 'reread') return this.#reread();
    if (deed === 'unlimit') return void this.vhost.deletePolicy('limit');
    if (queue === undefined) return;
    switch (deed) {
      case 'browse':
        return this.#browse(queue);
      case 'discard': {
        const entry = this.#any(queue);
        return this.options.seen?.(`discarded ${entry && this.vhost.discard(queue, entry)}`);
      }
      case 'edit':
        return this.#edit(queue);
      case 'limit':
        return void this.vhost.setPolicy('limit', { pattern: name, definition: random.pick(definitions), priority: 9 });
      case 'pause':
        return pauseOrResume(this.vhost, name, random);
    }
  }

  /** The next page of a queue, or its first one. */
  #browse(queue: Queue): void {
    const { random, seen = () => undefined } = this.options;
    const { entries, sections, next } = queue.browse({
      after: this.#cursors.get(queue.name),
      limit: random.integer(1, 6),
    });
    for (const [index, { message, position, returns, deadline }] of entries.entries()) {
      seen(`${position} in ${sections[index]}, ${returns > 0}, ${deadline}: ${describeProperties(message)}`);
      this.#check(message);
      this.#shown.push(message);
    }
    this.#shown.splice(0, this.#shown.length - mostShown);
    if (next === undefined) this.#cursors.delete(queue.name);
    else this.#cursors.set(queue.name, next);
  }

  #reread(): void {
    for (const message of this.#shown) this.#check(message);
  }

  /** A ready message anywhere in the queue. */
  #any(queue: Queue): Entry | undefined {
    const { random } = this.options;
    const positions: number[] = [];
    queue.peek(({ position }) => void positions.push(position));
    return positions.length === 0 ? undefined : queue.find(random.pick(positions));
  }

  /** Another message takes the place of one. */
  #edit(queue: Queue): void {
    const { random, seen } = this.options;
    const entry = this.#any(queue);
    if (entry === undefined) return;
    const messageId = this.newId();
    const headers = new Map([['edited', longstr(messageId)]]);
    const edited = messageOf(
      '',
      queue.name,
      { ...entry.message.own, messageId, headers },
      bodyOf(messageId),
      undefined,
    );
    const routingKey = random.pick([queue.name, 'work', 'copies', 'passing']);
    const { outcome } = this.vhost.redrive(queue, entry, { exchange: '', routingKey, headers, edited });
    seen?.(outcome);
  }

  #check(message: Message): void {
    const { messageId = '' } = message.properties;
    if (!bodyOf(messageId).equals(message.body)) this.options.wrong?.(messageId);
  }
}
