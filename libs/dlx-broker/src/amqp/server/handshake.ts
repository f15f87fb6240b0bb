import { AmqpError } from '../../engine/broker/index.js';
import { ByteReader, compact, emptyTable, type FieldTable, methodIds } from '../../engine/message/index.js';
import { isLoopback, type LoginAttempt, type PendingLogin } from '../../platform/logins/index.js';
import { frameTypes, type FrameWriter, type MethodReader, methods, readTableBody } from '../wire/index.js';
import type { Limits } from './limits.js';
import type { ListenerContext } from './listener-context.js';

/** The user, client properties and capabilities of a client. */
export class Client {
  constructor(
    /** As announced: product, version, platform, connection_name ... */
    readonly properties: FieldTable = emptyTable,
    readonly user = '',
    /** How it logged in: `PLAIN`, `AMQPLAIN`. */
    readonly mechanism = '',
  ) {}

  /** The name that the client gave its connection. */
  get connectionName(): string | undefined {
    const name = this.properties.get('connection_name');
    return name?.type === 'S' ? name.value : undefined;
  }

  /** Whether it announced a capability. */
  can(capability: string): boolean {
    const capabilities = this.properties.get('capabilities');
    return capabilities?.type === 'F' && capabilities.value.get(capability)?.value === true;
  }
}

/** The handshake failed and the client gets no reason: the connection ends after a delay. */
class Refused extends Error {
  override readonly name = 'Refused';
}

/** The values that tune and tune-ok negotiated. */
export interface Tuning {
  readonly channels: number;
  readonly frameSize: number;
  /** Seconds; 0 for none. */
  readonly heartbeat: number;
}

/** The result of a frame: more frames are needed, the client closes, or it opens a virtual host. */
type Step = 'more' | 'close' | { readonly virtualHost: string };

/** What a handshake needs of its connection. */
interface HandshakeHost {
  readonly to: FrameWriter;
  readonly limits: Limits;
  readonly context: Pick<ListenerContext, 'broker' | 'logins' | 'properties' | 'after'>;
  readonly socket: { readonly remoteAddress?: string | undefined };
  /** Marked as busy while its login waits, so that it is not closed for its silence. */
  readonly arrival: { readonly pendingLogin: Pick<PendingLogin, 'busy' | 'idle'> };
  /** Stops reading. @returns a function that resumes reading */
  hold(): () => void;
  /** Ends the connection for an error that was thrown after {@link Handshake.frame} had returned. */
  closed(error: unknown): void;
}

/** The handshake, from the protocol header to open: login, tuning, virtual host (rules T2, T3). */
export class Handshake {
  client = new Client();
  tuning: Tuning | undefined;
  #next: number = methodIds.connectionStartOk;

  /** The login, while it waits. */
  #attempt: LoginAttempt | undefined;
  /** The login that was accepted. */
  #accepted: LoginAttempt | undefined;
  #cancelTimer: () => void = () => undefined;

  /** Sends `connection.start`. */
  constructor(readonly host: HandshakeHost) {
    const { to, context } = host;
    methods.writeConnectionStart(to, 0, 0, 9, context.properties, 'PLAIN AMQPLAIN', 'en_US');
  }

  /** @throws Refused, AmqpError 403, or Malformed, which is handled like Refused */
  frame(type: number, channel: number, bytes: Buffer, start: number, end: number, from: MethodReader): Step {
    if (type !== frameTypes.method || channel !== 0) throw new Refused('no method of the connection');
    const id = bytes.readInt32BE(start);
    from.reset(bytes, start + 4, end);
    if (this.tuning !== undefined && id === methodIds.connectionClose) return 'close';
    if (id !== this.#next) throw new Refused('a method out of turn');
    if (id === methodIds.connectionOpen) return { virtualHost: methods.readConnectionOpen(from).virtualHost };
    if (id === methodIds.connectionStartOk) this.#startOk(from);
    else this.#tuneOk(from);
    return 'more';
  }

  #startOk(from: MethodReader): void {
    const { clientProperties: announced, mechanism, response } = methods.readConnectionStartOk(from);
    const clientProperties = compact(announced);
    this.client = new Client(clientProperties);
    const address = this.host.socket.remoteAddress ?? '';
    const claim = { ...credentials(mechanism, Buffer.from(response)), mechanism, address };
    const attempt = this.host.context.logins.attempt({ ...claim, isLocal: isLoopback(address) });
    this.#next = 0; // no method is accepted before the password is checked
    if (attempt.wait === 0) this.#checkLogin(attempt, claim.user, mechanism);
    else this.#checkLater(attempt, claim.user, mechanism);
  }

  #checkLater(attempt: LoginAttempt, user: string, mechanism: string): void {
    const resume = this.host.hold();
    this.host.arrival.pendingLogin.busy();
    const check = (): void => {
      this.#attempt = undefined;
      this.host.arrival.pendingLogin.idle();
      try {
        this.#checkLogin(attempt, user, mechanism);
      } catch (error) {
        this.host.closed(error);
      }
      resume();
    };
    this.#attempt = attempt;
    this.#cancelTimer = this.host.context.after(attempt.wait, check);
  }

  /** The connection ends: cancels a login that waits. */
  leave(): void {
    this.#cancelTimer();
    this.#attempt?.drop();
    this.#attempt = undefined;
  }

  /** @throws Refused, AmqpError 403 */
  #checkLogin(attempt: LoginAttempt, user: string, mechanism: string): void {
    if (!attempt.check()) {
      if (!this.client.can('authentication_failure_close')) throw new Refused('bad credentials');
      const text = `Login was refused using authentication mechanism ${mechanism}. For details see the broker logfile.`;
      throw new AmqpError('ACCESS_REFUSED', text, 'connection');
    }
    this.client = new Client(this.client.properties, user, mechanism);
    this.#accepted = attempt;
    const { channels, frameSize, heartbeat } = this.host.limits;
    methods.writeConnectionTune(this.host.to, 0, channels, frameSize, heartbeat);
    this.#next = methodIds.connectionTuneOk;
  }

  #tuneOk(from: MethodReader): void {
    const { channelMax, frameMax, heartbeat } = methods.readConnectionTuneOk(from);
    const { limits, context } = this.host;
    const { channels, frameSize } = limits;
    this.#checkTuning('frame_max', frameMax, context.broker.profile.minFrameSize, frameSize);
    this.#checkTuning('channel_max', channelMax, 1, channels);
    this.tuning = { channels: channelMax, frameSize: frameMax, heartbeat };
    this.#next = methodIds.connectionOpen;
  }

  /** The client sees its socket end and no reason, so the log has it. @throws Refused */
  #checkTuning(name: string, value: number, least: number, most: number): void {
    if (value >= least && value <= most) return;
    this.#accepted?.refuse(`its ${name} is ${value}, and may be ${least} to ${most}: set it in the client`);
    throw new Refused(name);
  }
}

function credentials(mechanism: string, response: Buffer): { readonly user: string; readonly password: string } {
  if (mechanism === 'PLAIN') {
    const [identity, user, password, ...more] = response.toString().split('\0');
    if (identity === undefined || user === undefined || password === undefined || more.length > 0) {
      throw new Refused('a response that is not PLAIN');
    }
    return { user, password };
  }
  if (mechanism !== 'AMQPLAIN') throw new Refused('an unknown mechanism');
  const login = readTableBody(new ByteReader(response));
  const user = login.get('LOGIN');
  const password = login.get('PASSWORD');
  if (user?.type !== 'S' || password?.type !== 'S') throw new Refused('a response that is not AMQPLAIN');
  return { user: user.value, password: password.value };
}
