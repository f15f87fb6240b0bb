import type { Attributes, TimeInput } from '@opentelemetry/api';
import { deathsOf, type Message } from '../message/index.js';
import type { Move } from '../tracing/index.js';
import { events, names } from './names.js';

/** An event of a span: its name, its attributes and its time. */
export type SpanEvent = readonly [name: string, attributes: Attributes, time?: TimeInput];

/** The most deaths of a message that become events, the latest ones. */
const mostDeaths = 16;

/** The most routing keys of a death. */
const mostKeys = 8;

/** The latest time that a Date has, in milliseconds since 1970. */
const latest = 8.64e15;

/** Names that a client wrote into a header may be long. */
const cut = (text: string): string => text.slice(0, 255);

/** The deaths of a message, which are its header `x-death`, the oldest first. */
export const deathEvents = (message: Message): readonly SpanEvent[] =>
  deathsOf(message)
    .slice(0, mostDeaths)
    .reverse()
    .map(({ reason, queue, exchange, routingKeys, count, time }) => {
      const attributes = {
        [names.reason]: cut(reason),
        [names.queue]: cut(queue),
        [names.exchange]: cut(exchange),
        [names.routingKeys]: routingKeys.slice(0, mostKeys).map(cut),
        [names.count]: count,
      };
      return time > 0 && time <= latest ? [events.death, attributes, time] : [events.death, attributes];
    });

/** The outcome of an attempt made a dead letter of the message. */
export const deadLettered = ({ kind, queue, to, attempt }: Move): SpanEvent => [
  events.deadLettered,
  {
    [names.reason]: kind === 'park' ? 'parked' : 'rejected',
    [names.queue]: queue,
    ...(to !== undefined && { [names.to]: to }),
    ...(attempt !== undefined && { [names.attempt]: attempt }),
  },
];
