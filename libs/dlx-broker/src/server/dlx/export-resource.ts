import type { Entry, Queue } from '../../engine/broker/index.js';
import type { Message } from '../../engine/message/index.js';
import { badRequest, notFound } from '../http/reply.js';
import type { Handler, Resource } from '../http/resource.js';
import { TextStream, untilAborted } from '../http/turns.js';
import { matcherOf, type Matches, scan } from './filter.js';
import { filterInQuery, filterNames, idsInQuery, numberIn, onlyKnown, wordIn } from './input.js';
import { messageToJson, type Shown } from './message-json.js';
import { readableQueue } from './named.js';

/** Bodies up to this many bytes are written in one step. Longer ones are base64, and are written in pieces. */
const longestInOneStep = 1_048_576;

/** The bytes of a long body in one piece: a multiple of three, so that the pieces join to valid base64. */
const pieceOfBody = 49_152;

/** The messages of an export. */
interface Exported {
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
function* linesOf(exported: Exported): Generator<string | undefined, void, void> {
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

const parameters = [...Object.keys(filterNames), 'header', 'ids', 'limit', 'encoding'];

/** The largest limit: more messages than any queue holds. */
const mostMessages = 999_999_999_999;

const headers = {
  'content-type': 'application/x-ndjson',
  'content-disposition': 'attachment; filename="messages.ndjson"',
  'cache-control': 'no-store',
};

/** The messages that match a filter, or have certain ids, one on each line. Reading delivers, counts and flags nothing. */
const exportAll: Handler = (request, management) => {
  const { query, signal } = request;
  onlyKnown(query.keys(), parameters, 'parameter');
  const queue = readableQueue(request, management);
  const positions = idsInQuery(query);
  const matches = matcherOf(filterInQuery(query));
  if (positions !== undefined && matches !== undefined) throw badRequest("'ids' and a filter exclude each other");
  const limit = numberIn(query, 'limit', mostMessages, 1, mostMessages);
  const encoding = wordIn(query, 'encoding', ['auto', 'base64'], 'auto');
  if (request.method === 'HEAD') return new Response(null, { headers });
  const stream = new TextStream({
    work: linesOf({ queue, matches, positions, limit, encoding, now: () => management.now() }),
    turns: management.dlx.turns,
    check: () => void readableQueue(request, management),
  });
  return untilAborted(stream, signal, headers);
};

export const exportResources: readonly Resource[] = [
  { path: '/dlx/queues/:vhost/:name/export', allows: 'management', GET: exportAll },
  { path: '/dlx/queues/:vhost/:name/messages.ndjson', allows: 'management', GET: exportAll },
];
