import type { BackendDelivery } from '../../../backends/index.js';
import { DlxContext } from '../../core/context.js';

/**
 * The context of a batch, by `@Ctx()`. `messages` are the contexts of its messages, in the order of the payloads. `ack()`, `reject()` and
 * `requeue()` settle all of them; what describes one message is that of the first.
 */
export class DlxBatchContext extends DlxContext {
  /** @internal */
  constructor(
    /** The context of each message: its headers, its attempt, and how to settle it. */
    readonly messages: readonly [DlxContext, ...DlxContext[]],
  ) {
    super(messages[0].getArgByIndex(0) as BackendDelivery);
  }

  /** Aborted with the first of its messages. */
  override get signal(): AbortSignal {
    return AbortSignal.any(this.messages.map(({ signal }) => signal));
  }

  override get attempts(): number | undefined {
    return this.messages[0].attempts;
  }

  override ack(): void {
    for (const message of this.messages) message.ack();
  }

  override reject(): void {
    for (const message of this.messages) message.reject();
  }

  override requeue(): void {
    for (const message of this.messages) message.requeue();
  }

  /** True if all its messages are settled. */
  override get isSettled(): boolean {
    return this.messages.every(({ isSettled }) => isSettled);
  }
}
