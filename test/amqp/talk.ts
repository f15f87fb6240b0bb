import type { WireOptions } from '../contract/wire/connection.js';
import type { Frame } from '../contract/wire/frames.js';
import { writeFrame } from '../contract/wire/frames.js';
import { type Arguments, type Method, readMethod, writeMethod } from '../contract/wire/methods.js';
import { RawPeer } from '../contract/wire/raw-peer.js';

export const protocolHeader = Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]);

/** A handshake by hand, as far as a test wants it. */
export class Talk {
  private constructor(
    readonly peer: RawPeer,
    readonly wire: WireOptions,
  ) {}

  /** Connects and says the protocol header. */
  static async begin(wire: WireOptions): Promise<Talk> {
    const talk = new Talk(await RawPeer.connect(wire.host, wire.port), wire);
    talk.peer.send(protocolHeader);
    return talk;
  }

  say(channel: number, name: string, args: Arguments = {}): void {
    this.peer.send(writeFrame(1, channel, writeMethod(name, args)));
  }

  frame(): Promise<Frame> {
    return this.peer.next();
  }

  async method(): Promise<Method> {
    return readMethod((await this.peer.next()).payload);
  }

  /** From start to tune. */
  async login(args: Arguments = {}): Promise<void> {
    await this.method();
    const { user, password } = this.wire;
    this.say(0, 'connection.start-ok', {
      mechanism: 'PLAIN',
      response: `\0${user}\0${password}`,
      locale: 'en_US',
      ...args,
    });
  }

  /** Logged in, tuned, and in its virtual host, with channel 1 open. */
  static async open(wire: WireOptions, startOk: Arguments = {}, tuneOk: Arguments = {}): Promise<Talk> {
    const talk = await Talk.begin(wire);
    await talk.login(startOk);
    await talk.method();
    talk.say(0, 'connection.tune-ok', { channelMax: 2047, frameMax: 131_072, heartbeat: 0, ...tuneOk });
    talk.say(0, 'connection.open', { vhost: wire.vhost });
    await talk.method();
    talk.say(1, 'channel.open');
    await talk.method();
    return talk;
  }

  /** Milliseconds until the other side ends the socket, and all that it has said by then. */
  async silence(): Promise<{ readonly lasted: number; readonly said: number }> {
    const begun = performance.now();
    const before = Buffer.concat(this.peer.received).length;
    const all = await this.peer.ended;
    return { lasted: performance.now() - begun, said: all.length - before };
  }

  /** How the other side ends the socket: `ECONNRESET`, or `end` for a FIN. */
  end(): Promise<string> {
    const { socket } = this.peer;
    return new Promise((resolve) =>
      socket
        .once('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)))
        .once('end', () => resolve('end')),
    );
  }

  drop(): void {
    this.peer.socket.destroy();
  }
}
