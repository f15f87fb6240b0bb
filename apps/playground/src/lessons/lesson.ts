import type { Command } from '../world/command.js';
import type { Topology } from '../world/topology.js';

/** A queue at the end of a lesson: its messages, the head first, as `body`, or `body key queue/reason×count ...`. */
export type Ends = Readonly<Record<string, readonly string[]>>;

/** A rule of dead-lettering as a small topology that runs, with a question. */
export interface Lesson {
  readonly id: string;
  readonly title: string;
  /** Of docs/internals/rules.md. */
  readonly rules: readonly string[];
  /** Three sentences. */
  readonly text: string;
  readonly topology: Topology;
  readonly question: string;
  /** The first one is right in 3.10; a page shows them in an order of its own. */
  readonly answers: readonly [string, string, ...string[]];
  readonly steps: readonly Command[];
  /** Why it ends so. */
  readonly why: string;
  /** What each queue has at the end. Queues that are not named are empty. */
  readonly ends: Ends;
  /** Where RabbitMQ 4 ends otherwise. */
  readonly endsOn4?: Ends;
  /** What RabbitMQ 4 does otherwise, in a sentence; with {@link endsOn4}. */
  readonly on4?: string;
}
