import type { Entry, Queue } from '../../../engine/broker/index.js';
import type { Message } from '../../../engine/message/index.js';
import type { Matches } from '../filter.js';
import { messageToJson, type Shown } from '../message-json.js';
import { notFound } from '../../http/reply.js';
import { scan } from '../scan.js';

/** Bodies up to this many bytes are written in one step. Longer ones are base64, and are written in pieces. */
const longestInOneStep = 1_048_576;

/** The bytes of a long body in one piece: a multiple of three, so that the pieces join to valid base64. */
const pieceOfBody = 49_152;

/** The messages of an export. */
export interface Exported {
  readonly queue: Queue;
  /** The test of messages. Default: all messages. */
  readonly matches: Matches | undefined;
  /** The positions of the wanted messages, instead of a test. */
  readonly positions: readonly number[] | undefined;
  /** The most messages. */
  readonly limit: number;
  readonly encoding: Shown['encoding'];
  /** Milliseconds since 1970, for ages. */
  readonly now: () => number;
}

/**
 * Writes messages as lines of JSON, in the order of the queue, or of the wanted positions. Messages that arrive after the start are
 * left out, and so are those that have gone. Yields wherever it may pause, with a piece of text if there is one.
 * @throws Problem 404 if the queue is deleted meanwhile: its messages are not known to have gone one by one
 */
export function* linesOf(exported: Exported): Generator<string | undefined, void, void> {
  const { encoding } = exported;
  for (const entry of messagesIn(exported)) {
    if (entry === undefined) yield undefined;
    else yield* lineOf(entry, encoding);
  }
}

function* messagesIn({ queue, matches, positions, limit, now }: Exported): Generator<Entry | undefined, void, void> {
  if (positions !== undefined) {
    for (const position of positions.slice(0, limit)) {
      if (queue.deleted) throw notFound();
      yield queue.find(position);
    }
    return;
  }
  const last = queue.lastPosition;
  let wanted: Entry | undefined;
  let count = 0;
  const found = (entry: Entry): boolean => {
    if (entry.position > last) return true;
    wanted = entry;
    return ++count < limit;
  };
  const work = scan({ queue, matches, most: Infinity, now, found });
  for (let step = work.next(); ; step = work.next()) {
    // The scan pauses after each message that it found, so that none is passed over here.
    const entry = wanted;
    wanted = undefined;
    yield entry;
    if (queue.deleted) throw notFound();
    if (step.done === true) return;
  }
}

function* lineOf(entry: Entry, encoding: Shown['encoding']): Generator<string, void, void> {
  const { message } = entry;
  const body = message.size > longestInOneStep ? longBodyOf(message) : undefined;
  if (body === undefined) {
    yield `${JSON.stringify(messageToJson(entry, { encoding, truncate: Infinity, longestHeader: Infinity, errors: true }))}\n`;
    return;
  }
  const about = messageToJson(entry, { encoding: 'base64', truncate: 0, longestHeader: Infinity, errors: true });
  const { payload: _, ...rest } = about;
  yield `${JSON.stringify({ ...rest, payload_truncated: false }).slice(0, -1)},"payload":"`;
  for (let from = 0; from < body.length; from += pieceOfBody) {
    yield body.subarray(from, from + pieceOfBody).toString('base64');
  }
  yield '"}\n';
}

/** Undefined if the body cannot be read back from disk. The line then says why. */
function longBodyOf(message: Message): Buffer | undefined {
  try {
    const { body } = message;
    return Buffer.from(body.buffer, body.byteOffset, body.length);
  } catch {
    return undefined;
  }
}
