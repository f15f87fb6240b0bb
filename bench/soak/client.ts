import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import amqplib, { type ChannelModel } from 'amqplib';

/** Milliseconds for the answer to a close. */
const patience = 2_000;

/** A client that connects again whenever its connection is lost. */
export abstract class Client {
  /** Connections that were made. */
  connections = 0;
  #connection: ChannelModel | undefined;
  #isStopped = false;
  readonly #loop: Promise<void>;

  /** @param address the URL of the server; undefined while there is none */
  constructor(private readonly address: () => string | undefined) {
    this.#loop = this.#run();
  }

  /**
   * Opens channels on a new connection.
   * @param lost resolves when the connection is lost or closed; a call to a lost connection may never answer
   */
  protected abstract open(connection: ChannelModel, lost: Promise<void>): Promise<void>;

  /** Destroys the socket without a word, as the system does when a process is killed. */
  kill(): void {
    stream(this.#connection)?.destroy(new Error('killed by the soak'));
  }

  /** Closes the connection in order, and connects no more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.close();
    await this.#loop;
  }

  /** Closes the connection in order. A server that is killed meanwhile never answers: then the socket is destroyed. */
  protected async close(): Promise<void> {
    await Promise.race([this.#goodbye(), sleep(patience)]);
    this.kill();
  }

  async #goodbye(): Promise<void> {
    try {
      await this.#connection?.close();
    } catch {
      // It is closed already.
    }
  }

  async #run(): Promise<void> {
    await sleep(1); // fields of the subclass are there then
    while (!this.#isStopped) {
      const url = this.address();
      if (url !== undefined) await this.#connect(url).catch(() => undefined);
      await sleep(50);
    }
  }

  async #connect(url: string): Promise<void> {
    const connection = await amqplib.connect(url, { noDelay: true, timeout: patience });
    connection.on('error', () => undefined); // 'close' follows
    const lost = new Promise<void>((resolve) => connection.once('close', () => resolve()));
    this.#connection = connection;
    this.connections++;
    // What fails while channels open has lost its connection, or is a fault: then the connection is of no use.
    void this.open(connection, lost).catch(() => stream(connection)?.destroy(new Error('not opened')));
    await lost;
    this.#connection = undefined;
  }
}

/** A call that fails if the connection is closing at this moment. @returns whether it was sent */
export function sent(call: () => void): boolean {
  try {
    call();
    return true;
  } catch {
    return false;
  }
}

const stream = (connection: ChannelModel | undefined): Socket | undefined =>
  (connection as unknown as { connection?: { stream: Socket } } | undefined)?.connection?.stream;
