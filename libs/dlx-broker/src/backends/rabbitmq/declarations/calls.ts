import { inTime, type Patience } from '../../../platform/index.js';
import {
  type AmqpChannel,
  type AmqpConnection,
  type Answer,
  ChannelClosedError,
  type Done,
  UnsendableError,
} from '../../../amqp/client/index.js';

/** The reply code of a channel that the server closed; undefined for any other failure. */
export const codeOf = (error: unknown): number | undefined =>
  error instanceof ChannelClosedError ? error.code : undefined;

/** The server's text, or the message of another failure. */
export const textOf = (error: unknown): string =>
  error instanceof ChannelClosedError ? error.text : (error as Error).message;

/** The warning of a declaration that failed, and is tried again. @param left the milliseconds for which it is tried */
export const triedAgain = (subject: string, left: number, reason: string): string =>
  `${subject} cannot be declared now, and is tried again for ${(left / 1_000).toFixed(1)} s: ${reason}`;

/** True for failures that may pass: a queue has no leader, its node is down, or the server is short of resources. */
export function mayPass(error: unknown): boolean {
  const code = codeOf(error);
  if (code === 541 || code === 506) return true;
  return code === 404 && /home node|is down|no leader|unavailable|timeout/i.test(textOf(error));
}

/** Runs commands as promises. An error closes the channel, and the next command opens another. For declarations, not for messages. */
export class Calls {
  /** What the next command is about, with the place of its declaration: for the error when it never succeeds. */
  subject: string | undefined;
  #channel: AmqpChannel | undefined;
  #isOver = false;

  /** @param patience for each answer; undefined: a command waits until the connection ends */
  constructor(
    private readonly connection: AmqpConnection,
    private readonly patience?: Patience,
  ) {}

  /** @throws ClientError, or Error when the answer takes too long */
  async call<T>(command: (channel: AmqpChannel, answer: Answer<T>) => void): Promise<T> {
    const channel = this.#open();
    return this.#answer<T>((resolve, reject) =>
      command(channel, (...[failure, value]) => (failure === undefined ? resolve(value) : reject(failure))),
    );
  }

  /** @throws ClientError, or Error when the answer takes too long */
  async run(command: (channel: AmqpChannel, done: Done) => void): Promise<void> {
    const channel = this.#open();
    return this.#answer<void>((resolve, reject) =>
      command(channel, (failure) => (failure === undefined ? resolve() : reject(failure))),
    );
  }

  /** @returns false when the server says 404 @throws ClientError, or Error when the answer takes too long */
  async exists(command: (channel: AmqpChannel, done: Done) => void): Promise<boolean> {
    try {
      await this.run(command);
      return true;
    } catch (error) {
      if (codeOf(error) === 404 && !mayPass(error)) return false;
      throw error;
    }
  }

  /** Closes the channel. Further commands fail: they may belong to work that was given up at its time limit. */
  end(): void {
    this.#isOver = true;
    if (this.#channel?.isOpen === true) this.#channel.close();
  }

  #answer<T>(ask: (resolve: (value: T) => void, reject: (error: Error) => void) => void): Promise<T> {
    const answer = new Promise<T>(ask);
    const { patience } = this;
    if (patience === undefined) return answer;
    return inTime(answer, patience, 'the server gave no answer in time');
  }

  /** @throws UnsendableError after the end */
  #open(): AmqpChannel {
    if (this.#isOver) throw new UnsendableError('the work of this command has ended');
    if (this.#channel?.isOpen !== true) this.#channel = this.connection.openChannel({ closed: () => undefined });
    return this.#channel;
  }
}
