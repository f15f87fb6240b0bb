import {
  bool,
  ByteWriter,
  type FieldTable,
  isShortstr,
  longstr,
  methodIds,
  table,
  textAt,
  writeTable,
} from '../../engine/message/index.js';
import {
  frameOverhead,
  type FrameWriter,
  type MethodReader,
  methods,
  minFrameSize,
  protocolHeader,
} from '../wire/index.js';
import type { ServerDescription } from './api.js';
import { type ConnectFailure, ConnectionFailedError } from './errors.js';

/** The login of a client. */
type Credentials =
  | { readonly mechanism?: 'PLAIN' | 'AMQPLAIN'; readonly user: string; readonly password: string }
  /** A login by the certificate of the client. */
  | { readonly mechanism: 'EXTERNAL' };

/** How a connection to a server is opened. */
export interface ConnectionOptions {
  /** Host and port as errors name them, such as `rabbit-1:5672`. */
  readonly place: string;
  readonly credentials: Credentials;
  /** Default `/`. */
  readonly virtualHost?: string;
  /** A name that management shows. */
  readonly name?: string;
  /** More client properties, such as `product`. */
  readonly properties?: FieldTable;
  /**
   * Seconds of a heartbeat interval. The client sends a heartbeat after half an interval without output, and ends the
   * connection when nothing came from the server for two intervals. The smaller one of this and the server's counts; 0 switches
   * heartbeats off. Default 30.
   */
  readonly heartbeat?: number;
  /** Bytes of a frame at most. Default 131072. */
  readonly frameMax?: number;
  /** Channels at most. Default 2047. */
  readonly channelMax?: number;
  /** Milliseconds from `open` until the server has opened the virtual host. Default 10000. */
  readonly handshakeTimeout?: number;
  /** Milliseconds that the server may take to answer a close. Default 5000. */
  readonly closeTimeout?: number;
  /** Bytes of the body of one message from the server at most. Default 536870912. */
  readonly maxMessageSize?: number;
  /** With more unsent bytes the connection is congested, until {@link ConnectionEvents.drained}. Default 1048576. */
  readonly highWaterMark?: number;
}

export const defaults = {
  virtualHost: '/',
  heartbeat: 30,
  frameMax: 131_072,
  channelMax: 2047,
  handshakeTimeout: 10_000,
  closeTimeout: 5_000,
  maxMessageSize: 536_870_912,
  highWaterMark: 1_048_576,
} as const;

/** The capabilities of this client. A server sends some methods only to clients that announce the capability. */
const capabilities = [
  'authentication_failure_close',
  'basic.nack',
  'connection.blocked',
  'consumer_cancel_notify',
  'exchange_exchange_bindings',
  'publisher_confirms',
];

/** The client properties of `connection.start-ok`. */
const clientProperties = ({ name, properties }: ConnectionOptions): FieldTable =>
  new Map([
    ['product', longstr('dlx-broker')],
    ['platform', longstr(`Node.js ${process.versions.node}`)],
    ...(name === undefined ? [] : [['connection_name', longstr(name)] as const]),
    ...(properties ?? []),
    ['capabilities', table(new Map(capabilities.map((capability) => [capability, bool(true)])))],
  ]);

/** Reads the server properties of `connection.start`. */
function describeServer(properties: FieldTable): ServerDescription {
  const announced = properties.get('capabilities');
  return {
    properties,
    product: textAt(properties, 'product') ?? '',
    version: textAt(properties, 'version') ?? '',
    can: (capability) => announced?.type === 'F' && announced.value.get(capability)?.value === true,
  };
}

/** The agreed parameters of a connection. */
export interface Agreement {
  readonly server: ServerDescription;
  readonly channelMax: number;
  readonly frameMax: number;
  /** Seconds; 0 for none. */
  readonly heartbeat: number;
}

/** The client's side of the handshake, from the protocol header to `connection.open-ok`. */
export class ClientHandshake {
  /** The next expected method. */
  #due: number = methodIds.connectionStart;
  #server: ServerDescription | undefined;
  #agreed: Agreement | undefined;

  constructor(
    readonly options: ConnectionOptions,
    readonly to: FrameWriter,
  ) {
    to.plain(protocolHeader);
  }

  /** Defined after `connection.tune`. */
  get agreed(): Agreement | undefined {
    return this.#agreed;
  }

  /** @returns whether the virtual host is open @throws ConnectionFailedError, Malformed, WireError */
  method(id: number, from: MethodReader): boolean {
    if (id === methodIds.connectionClose) throw this.#refusedBy(methods.readConnectionClose(from));
    if (id !== this.#due) throw this.failure('not AMQP', 'the server sent a method out of turn while connecting');
    if (id === methodIds.connectionStart) this.#start(methods.readConnectionStart(from));
    else if (id === methodIds.connectionTune) this.#tune(methods.readConnectionTune(from));
    else methods.readConnectionOpenOk(from);
    return id === methodIds.connectionOpenOk;
  }

  /** The error when the socket ends during the handshake. */
  ended(detail: string): ConnectionFailedError {
    if (this.#due === methodIds.connectionStart) {
      return this.failure(
        'refused',
        `${detail} before it said anything: is this the port of AMQP, and with TLS or without?`,
      );
    }
    const isLogin = this.#due === methodIds.connectionTune;
    return this.failure(
      isLogin ? 'credentials' : 'refused',
      isLogin ? `${detail} after the login${this.#as()}` : detail,
    );
  }

  failure(reason: ConnectFailure, detail: string, code?: number, options?: ErrorOptions): ConnectionFailedError {
    const { place, virtualHost = defaults.virtualHost } = this.options;
    return new ConnectionFailedError(reason, place, virtualHost, detail, code, options);
  }

  #start({
    versionMajor,
    versionMinor,
    serverProperties,
    mechanisms,
  }: ReturnType<typeof methods.readConnectionStart>): void {
    const { credentials } = this.options;
    if (versionMajor !== 0 || versionMinor !== 9) {
      throw this.failure('not AMQP', `the server speaks AMQP ${versionMajor}-${versionMinor}, not 0-9-1`);
    }
    const { mechanism = 'PLAIN' } = credentials;
    if (!mechanisms.split(' ').includes(mechanism)) {
      const remedy =
        mechanism === 'EXTERNAL'
          ? '; on RabbitMQ enable the plugin rabbitmq_auth_mechanism_ssl and list EXTERNAL in auth_mechanisms, or log in by a password'
          : '';
      throw this.failure('credentials', `the server takes logins by ${mechanisms}, not by ${mechanism}${remedy}`);
    }
    const { virtualHost = defaults.virtualHost } = this.options;
    if (!isShortstr(virtualHost)) throw this.failure('virtual host', 'its name is longer than 255 bytes');
    this.#server = describeServer(serverProperties);
    methods.writeConnectionStartOk(
      this.to,
      0,
      clientProperties(this.options),
      mechanism,
      response(credentials),
      'en_US',
    );
    this.#due = methodIds.connectionTune;
  }

  #tune(offered: ReturnType<typeof methods.readConnectionTune>): void {
    const { channelMax, frameMax, heartbeat, virtualHost } = { ...defaults, ...this.options };
    const agreed: Agreement = {
      server: this.#server as ServerDescription,
      channelMax: lower(channelMax, offered.channelMax) || mostChannels,
      frameMax: Math.max(lower(frameMax, offered.frameMax) || defaults.frameMax, minFrameSize),
      heartbeat: heartbeat === 0 ? 0 : lower(heartbeat, offered.heartbeat),
    };
    this.#agreed = agreed;
    methods.writeConnectionTuneOk(this.to, 0, agreed.channelMax, agreed.frameMax, agreed.heartbeat);
    this.to.maxPayload = agreed.frameMax - frameOverhead;
    methods.writeConnectionOpen(this.to, 0, virtualHost);
    this.#due = methodIds.connectionOpenOk;
  }

  #refusedBy({ replyCode, replyText }: ReturnType<typeof methods.readConnectionClose>): ConnectionFailedError {
    const isLogin = this.#due === methodIds.connectionTune;
    const text = `login${this.#as()}: ${replyText}`; // texts of servers may end with a full stop
    if (replyCode === 403) return this.failure('credentials', text, replyCode);
    if (replyCode === 530 && !isLogin) return this.failure('virtual host', text, replyCode);
    return this.failure('refused', replyText, replyCode);
  }

  #as(): string {
    const { credentials } = this.options;
    return credentials.mechanism === 'EXTERNAL' ? '' : ` as user '${credentials.user}'`;
  }
}

/** Channel numbers have 16 bits. */
const mostChannels = 65_535;

/** The lower of two limits; 0 is no limit. */
const lower = (one: number, other: number): number =>
  one === 0 || other === 0 ? Math.max(one, other) : Math.min(one, other);

/** The SASL response. */
function response(credentials: Credentials): Uint8Array {
  if (credentials.mechanism === 'EXTERNAL') return new Uint8Array();
  const { mechanism, user, password } = credentials;
  if (mechanism !== 'AMQPLAIN') return Buffer.from(`\0${user}\0${password}`);
  const writer = new ByteWriter(Buffer.alloc(256));
  writeTable(writer, new Map([['LOGIN', longstr(user)] as const, ['PASSWORD', longstr(password)] as const]));
  return writer.written.subarray(4);
}
