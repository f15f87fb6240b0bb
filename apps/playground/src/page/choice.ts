import { signal } from '@preact/signals';
import type { MessageState, State } from '../world/state';

/** What is chosen in the drawing. */
export type Choice =
  | { readonly kind: 'queue' | 'exchange' | 'consumer'; readonly name: string }
  | { readonly kind: 'message'; readonly id: number; readonly copy: number };

export const choice = signal<Choice | undefined>(undefined);

/** Nodes and edges that stand out from all others, by their ids. */
export const marked = signal<ReadonlySet<string>>(new Set());

/** A message and the consumer that holds it. */
export interface Found {
  readonly message: MessageState;
  /** Its place among those that the consumer holds. */
  readonly held?: number;
  readonly consumer?: string;
}

/** The chosen message; its next copy after it died. */
export function foundIn({ queues, consumers }: State, { id, copy }: { id: number; copy: number }): Found | undefined {
  const all: readonly Found[] = [
    ...queues.flatMap(({ messages }) => messages.map((message) => ({ message }))),
    ...consumers.flatMap(({ name, held }) => held.map((message, at) => ({ message, held: at, consumer: name }))),
  ];
  return all.find(({ message }) => message.copy === copy) ?? all.findLast(({ message }) => message.id === id);
}

/** Whether two choices are the same thing. */
export const isSame = (one: Choice | undefined, other: Choice): boolean =>
  one?.kind === 'message' && other.kind === 'message'
    ? one.copy === other.copy
    : JSON.stringify(one) === JSON.stringify(other);
