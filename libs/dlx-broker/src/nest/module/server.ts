import type { CustomTransportStrategy, MessageHandler } from '@nestjs/microservices';
import type { Observable } from 'rxjs';
import type { DlxContext } from '../core/context.js';
import type { Backend } from '../../backends/index.js';
import { doNothing } from '../../platform/index.js';
import {
  type ProcessingEndHook,
  type ProcessingStartHook,
  type Server,
  TransportServer,
} from '../handlers/nest-versions.js';
import { defaultBrokerName } from './options.js';
import { type DlxStatus, followStatus } from '../client/client-state.js';

/** The transport id of a broker, to bind a pattern to it alone: `@EventPattern('x', getDlxTransportId('audit'))`. */
export const getDlxTransportId = (name: string = defaultBrokerName): symbol => Symbol.for(`dlx-broker:${name}`);

/** A handler that Nest added to a transport. */
export interface AddedHandler {
  readonly pattern: string;
  readonly callback: MessageHandler;
  readonly isEvent: boolean;
  /** Identifies the method, see DiscoveredMethod.patternExtras. */
  readonly extras: object;
}

/** What a server needs from its broker. */
export interface ServerHost {
  readonly backend: Backend;
  /** Declares what the handlers need, and consumes. */
  listen(): Promise<void>;
  /** Waits for the handlers of this server. */
  drain(): Promise<void>;
}

/**
 * Nest's transport strategy: delivers messages to `@EventPattern` and `@MessagePattern`. Made by DlxBrokerModule:
 * `app.connectMicroservice({ strategy: app.get(DlxServer) })`.
 */
export class DlxServer extends TransportServer implements CustomTransportStrategy {
  override readonly propagatesEventHandlerErrors = true;
  readonly #added: AddedHandler[] = [];
  #host: ServerHost | undefined;
  #unfollow: (() => void) | undefined;
  #startHook: ProcessingStartHook | undefined;
  #endHook: ProcessingEndHook | undefined;

  constructor(name: string = defaultBrokerName) {
    super();
    this.transportId = getDlxTransportId(name);
  }

  /** @internal Called once by the broker of this server. */
  attach(host: ServerHost): void {
    this.#host = host;
  }

  /** @internal */
  get added(): readonly AddedHandler[] {
    return this.#added;
  }

  /** Adds a handler. Handlers of one event are not chained, because each has a queue of its own. */
  override addHandler(
    pattern: unknown,
    callback: MessageHandler,
    isEventHandler = false,
    extras: Record<string, unknown> = {},
  ): void {
    const route = this.normalizePattern(pattern as string);
    callback.isEventHandler = isEventHandler;
    callback.extras = extras;
    this.#added.push({ pattern: route, callback, isEvent: isEventHandler, extras });
    if (!this.messageHandlers.has(route)) this.messageHandlers.set(route, callback);
  }

  /** Emits the present status of the connection once the server listens, and each change. */
  override get status(): Observable<DlxStatus> {
    return super.status as Observable<DlxStatus>;
  }

  override listen(callback: (error?: unknown) => void): void {
    const host = this.#requireHost();
    host.listen().then(
      () => {
        this.#unfollow ??= followStatus(host.backend, (status) => this._status$.next(status));
        callback();
      },
      (error: unknown) => callback(error),
    );
  }

  override async close(): Promise<void> {
    await this.#host?.drain();
    this.#unfollow?.();
    this.#unfollow = undefined;
    this._status$.next('disconnected');
  }

  /** Does nothing: there are no events of a driver. See `status`. */
  override on(_event: string, _callback: Parameters<Server['on']>[1]): void {}

  /** The backend. */
  override unwrap<T>(): T {
    return this.#requireHost().backend as T;
  }

  /** Sets a hook that is called before each message is handled. Its `done` handles the message. */
  override setOnProcessingStartHook(hook: ProcessingStartHook): void {
    this.#startHook = hook;
  }

  /** Sets a hook that is called when a message was handled. */
  override setOnProcessingEndHook(hook: ProcessingEndHook): void {
    this.#endHook = hook;
  }

  /**
   * @internal Calls `run` between the processing hooks of Nest; without hooks, at once and without a promise.
   * @returns undefined without hooks; otherwise a promise that rejects when one of them fails
   */
  process(context: DlxContext, run: (end: () => void) => void): Promise<void> | undefined {
    if (this.#startHook === undefined && this.#endHook === undefined) return void run(doNothing);
    return this.#hook(context, run);
  }

  async #hook(context: DlxContext, run: (end: () => void) => void): Promise<void> {
    const { transportId = getDlxTransportId() } = this;
    const done = async (): Promise<void> => {
      let hasEnded = false;
      const end = (): void => {
        if (hasEnded) return;
        hasEnded = true;
        this.#endHook?.(transportId, context);
      };
      const ended = (resolve: () => void) => (): void => {
        try {
          end();
        } finally {
          resolve();
        }
      };
      try {
        await new Promise<void>((resolve) => run(ended(resolve)));
      } catch (error) {
        end();
        throw error;
      }
    };
    await (this.#startHook === undefined ? done() : this.#startHook(transportId, context, done));
  }

  #requireHost(): ServerHost {
    if (this.#host !== undefined) return this.#host;
    throw new Error('this DlxServer belongs to no broker: take it from DlxBrokerModule, by app.get(DlxServer)');
  }
}
