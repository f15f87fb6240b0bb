import type { FieldTable, Message } from '../../message/index.js';
import type { Into } from './recipients.js';

/** From an exchange to a queue or to another exchange. */
export interface Binding<Destination> {
  readonly destination: Destination;
  readonly bindingKey: string;
  readonly arguments: FieldTable;
}

/**
 * What an exchange type has to know: its bindings, and who gets a message. Every router owns an index: routing costs
 * nothing per binding that does not match.
 */
export interface Router<Destination> {
  /** Called once per distinct binding (the exchange holds the list and drops repetitions). */
  bind(binding: Binding<Destination>): void;
  unbind(binding: Binding<Destination>): void;
  /**
   * Adds to a set, for a queue gets a message at most once however many bindings match (rule G4).
   * @param routingKey one of the message's keys; called once per key (rule G2)
   */
  route(message: Message, routingKey: string, into: Into<Destination>): void;
  /** Whether it gives every key of a message the same answer: it is asked once then. */
  readonly ignoresKeys?: true;
}
