import type { Attributes, Span, TimeInput } from '@opentelemetry/api';
import { deathsOf, type Message } from '../../engine/message/index.js';
import type { Move } from '../tracing/index.js';
import { deadLetteredEvent, deathEvent, ofDeadLetter, ofDeath } from './attributes.js';

/** An event of a span: its name, its attributes and its time. */
export type SpanEvent = readonly [name: string, attributes: Attributes, time?: TimeInput];

/** The most deaths of a message that become events, the latest ones. */
const mostDeaths = 16;

/** The latest time that a Date has, in milliseconds since 1970. */
const latest = 8.64e15;

/** Adds the deaths of a message, which are its header `x-death`, to the span of an attempt: the oldest first. */
export function addDeaths(span: Span, message: Message): void {
  const deaths = deathsOf(message);
  for (let index = Math.min(deaths.length, mostDeaths) - 1; index >= 0; index--) {
    const death = deaths[index]!;
    const isTime = death.time > 0 && death.time <= latest;
    span.addEvent(deathEvent, ofDeath(death), isTime ? death.time : undefined);
  }
}

export const deadLettered = (move: Move): SpanEvent => [deadLetteredEvent, ofDeadLetter(move)];
