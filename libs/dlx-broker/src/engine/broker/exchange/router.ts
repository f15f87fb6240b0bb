import type { FieldTable, Message } from '../../message/index.js';
import type { Into } from './recipients.js';

/** A binding of an exchange to a queue or to another exchange. */
export interface Binding<Destination> {
  readonly destination: Destination;
  readonly bindingKey: string;
  readonly arguments: FieldTable;
}

/**
 * Finds the destinations of a message by the bindings of an exchange. Every router has an index: a binding that does
 * not match costs nothing.
 */
export interface Router<Destination> {
  /** Called once for each binding: the exchange has the list of bindings, and ignores repetitions. */
  bind(binding: Binding<Destination>): void;
  unbind(binding: Binding<Destination>): void;
  /**
   * Adds the destinations to a set: a queue gets a message at most once, however many bindings match (rule G4).
   * @param routingKey one of the message's keys; called once per key (rule G2)
   */
  route(message: Message, routingKey: string, into: Into<Destination>): void;
  /** True when the result does not depend on the key: then `route` is called once for a message. */
  readonly ignoresKeys?: true;
}
