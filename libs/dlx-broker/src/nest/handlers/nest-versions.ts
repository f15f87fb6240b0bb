// The files below use it when they are loaded, and only Nest's own entry point loads it for them.
import 'reflect-metadata';
import type { ExecutionContext } from '@nestjs/common';
import { EXCEPTION_FILTERS_METADATA, FILTER_CATCH_EXCEPTIONS } from '@nestjs/common/constants.js';
import type { ApplicationConfig } from '@nestjs/core';
import { GuardsConsumer } from '@nestjs/core/guards/guards-consumer.js';
import { GuardsContextCreator } from '@nestjs/core/guards/guards-context-creator.js';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { STATIC_CONTEXT } from '@nestjs/core/injector/constants.js';
import { Injector } from '@nestjs/core/injector/injector.js';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import type { Module } from '@nestjs/core/injector/module.js';
import { InterceptorsConsumer } from '@nestjs/core/interceptors/interceptors-consumer.js';
import { InterceptorsContextCreator } from '@nestjs/core/interceptors/interceptors-context-creator.js';
import { PipesConsumer } from '@nestjs/core/pipes/pipes-consumer.js';
import { PipesContextCreator } from '@nestjs/core/pipes/pipes-context-creator.js';
import { REQUEST_CONTEXT_ID } from '@nestjs/core/router/request/request-constants.js';
import type { ReadPacket, Transport } from '@nestjs/microservices';
import { ClientProxy } from '@nestjs/microservices/client/client-proxy.js';
import {
  NO_MESSAGE_HANDLER,
  PATTERN_EXTRAS_METADATA,
  PATTERN_HANDLER_METADATA,
  TRANSPORT_METADATA,
} from '@nestjs/microservices/constants.js';
import { ExceptionFiltersContext } from '@nestjs/microservices/context/exception-filters-context.js';
import { RequestContextHost } from '@nestjs/microservices/context/request-context-host.js';
import { RpcContextCreator } from '@nestjs/microservices/context/rpc-context-creator.js';
import { RpcProxy } from '@nestjs/microservices/context/rpc-proxy.js';
import { BaseRpcContext } from '@nestjs/microservices/ctx-host/base-rpc.context.js';
import { InvalidMessageException } from '@nestjs/microservices/errors/invalid-message.exception.js';
import type { RpcExceptionsHandler } from '@nestjs/microservices/exceptions/rpc-exceptions-handler.js';
import { RpcException } from '@nestjs/microservices/exceptions/rpc-exception.js';
import { Server } from '@nestjs/microservices/server/server.js';
import { transformPatternToRoute } from '@nestjs/microservices/utils/transform-pattern.utils.js';
import type { Observable } from 'rxjs';

/*
 * All that this library takes from the inside of Nest, and all that differs between Nest 11 and Nest 12. Both have these paths.
 * Nothing here compares version numbers: the library looks for the member that it needs.
 */
export {
  BaseRpcContext,
  EXCEPTION_FILTERS_METADATA,
  ExceptionFiltersContext,
  ExecutionContextHost,
  FILTER_CATCH_EXCEPTIONS,
  GuardsConsumer,
  GuardsContextCreator,
  Injector,
  InterceptorsConsumer,
  InterceptorsContextCreator,
  InvalidMessageException,
  NO_MESSAGE_HANDLER,
  PATTERN_EXTRAS_METADATA,
  PATTERN_HANDLER_METADATA,
  PipesConsumer,
  PipesContextCreator,
  REQUEST_CONTEXT_ID,
  RequestContextHost,
  RpcException,
  RpcProxy,
  STATIC_CONTEXT,
  transformPatternToRoute,
  TRANSPORT_METADATA,
  type InstanceWrapper,
  type Module,
  type RpcContextCreator,
  type RpcExceptionsHandler,
  type Server,
};

/** A pre-request hook of Nest 12: runs around guards, interceptors, pipes and the handler. */
export type PreRequestHook = (execution: ExecutionContext, next: () => Observable<unknown>) => Observable<unknown>;

/** The pre-request hooks of an application. */
export interface PreRequestHooks {
  registerPreRequestHook(hook: PreRequestHook): void;
  getGlobalPreRequestHooks(): readonly PreRequestHook[];
}

/** The pre-request hooks of the application; undefined on Nest 11, which has none. */
export function preRequestHooksOf(config: ApplicationConfig): PreRequestHooks | undefined {
  return 'registerPreRequestHook' in config ? (config as unknown as PreRequestHooks) : undefined;
}

/** Takes an error before the exception filters. @returns undefined for an error that is Nest's own to handle */
export type ErrorHandler = (
  filters: RpcExceptionsHandler,
  args: readonly unknown[],
  error: unknown,
) => Observable<unknown> | undefined;

const handledBefore = Symbol('dlx-broker: handled before');

/**
 * Calls `handle` first for each error of a handler that Nest itself bound, in all applications of this process. For Nest 11, which has
 * no pre-request hooks. Later calls have no effect.
 */
export function handleErrorsBefore(handle: ErrorHandler): void {
  const prototype = RpcProxy.prototype as { handleError: RpcProxy['handleError'] };
  const original = prototype.handleError;
  if (handledBefore in original) return;
  const handleError: typeof original = function (this: RpcProxy, ...call) {
    return handle(call[0], call[1], call[2]) ?? original.apply(this, call);
  };
  prototype.handleError = Object.assign(handleError, { [handledBefore]: true });
}

/** True after {@link handleErrorsBefore}. */
export const areErrorsHandledBefore = (): boolean => handledBefore in RpcProxy.prototype.handleError;

const readBefore = Symbol('dlx-broker: read before');

/**
 * Passes what handlers return through `read`, before interceptors get it, in all applications of this process. Later calls have no effect.
 * @param isOurs true for the arguments of the handlers whose results are read
 */
export function readResultsBefore(
  isOurs: (args: readonly unknown[]) => boolean,
  read: (result: unknown) => unknown,
): void {
  const prototype = InterceptorsConsumer.prototype as { intercept: InterceptorsConsumer['intercept'] };
  const original = prototype.intercept;
  if (readBefore in original) return;
  const intercept = function (this: InterceptorsConsumer, ...call: Parameters<typeof original>) {
    const [interceptors, args, instance, callback, next, type] = call;
    const results = isOurs(args) ? () => next().then(read) : next;
    return original.call(this, interceptors, args, instance, callback, results, type);
  };
  prototype.intercept = Object.assign(intercept as typeof original, { [readBefore]: true });
}

/** A packet on its way out, with the metadata of Nest 12. */
export type OutgoingPacket = ReadPacket & { metadata?: Record<string, string> };

/** Called for each packet before it is published; may give it `metadata`. */
export type DispatchHook = (packet: OutgoingPacket) => void;

/** Nest 11 has no dispatch hooks: a client calls them itself, on both. */
export interface WithDispatchHook {
  setOnDispatchHook(hook: DispatchHook): void;
}

/** Called before a message is handled. `done` handles it. */
export type ProcessingStartHook = (
  transportId: Transport | symbol,
  context: unknown,
  // eslint-disable-next-line typescript/no-explicit-any -- as Nest has it
  done: () => Promise<any>,
) => void;

/** Called when a message was handled. */
export type ProcessingEndHook = (transportId: Transport | symbol, context: unknown) => void;

/** What a server has beyond Nest 11.0: it calls the hooks itself, on all. */
export interface WithProcessingHooks {
  setOnProcessingStartHook(hook: ProcessingStartHook): void;
  setOnProcessingEndHook(hook: ProcessingEndHook): void;
  /** True: Nest 12 does not log the failures of event handlers. */
  readonly propagatesEventHandlerErrors: boolean;
}

// eslint-disable-next-line typescript/no-explicit-any -- what TypeScript asks of a mixin
type Abstract<T> = abstract new (...args: any[]) => T;

/** Nest's client with the members that Nest 11 does not have. A class that extends it defines them. */
export const Client = ClientProxy as typeof ClientProxy & Abstract<WithDispatchHook>;

/** Nest's server with the members that Nest 11 does not have. A class that extends it defines them. */
export const TransportServer = Server as typeof Server & Abstract<WithProcessingHooks>;

/** The parts of {@link RpcContextCreator} that both versions have. */
export type HandlerParts = readonly [
  RpcProxy,
  ExceptionFiltersContext,
  PipesContextCreator,
  PipesConsumer,
  GuardsContextCreator,
  GuardsConsumer,
  InterceptorsContextCreator,
  InterceptorsConsumer,
];

/**
 * Makes Nest's creator of handlers, for one method. It keeps what it reads of the method in a store of its own: the keys of the store of
 * Nest 11 are names of classes and methods, which classes of one name share, and a method whose name is a symbol does not have.
 * @param hooks the pre-request hooks; Nest 11 does not look at them
 */
export function creatorForOneMethod(
  parts: HandlerParts,
  hooks: Pick<PreRequestHooks, 'getGlobalPreRequestHooks'> | undefined,
): RpcContextCreator {
  const creator = Reflect.construct(RpcContextCreator, [...parts, hooks]) as RpcContextCreator;
  let known: unknown;
  const store = {
    get: () => known,
    set: (_instance: object, _method: string, metadata: unknown) => (known = metadata),
  };
  return Object.assign(creator, { handlerMetadataStorage: store });
}

/** A parameter of a method as Nest reads it. `type` is a number for `@Payload()` and `@Ctx()`, and a string for decorators of applications. */
export interface NestParameter {
  readonly index: number;
  readonly type: unknown;
  readonly pipes: readonly unknown[];
  readonly extractValue: (...args: readonly unknown[]) => unknown;
}

/** What Nest found for a method while it bound it. */
export interface FoundEnhancers {
  guards?: readonly unknown[];
  pipes?: readonly unknown[];
  parameters?: readonly NestParameter[];
}

/** Notes what a creator finds for the method that it binds next. Members stay undefined if a version of Nest does not ask for them. */
export function noteEnhancers(creator: RpcContextCreator): FoundEnhancers {
  const found: FoundEnhancers = {};
  const createGuardsFn: RpcContextCreator['createGuardsFn'] = (...args) => {
    [found.guards] = args;
    return RpcContextCreator.prototype.createGuardsFn.apply(creator, args);
  };
  const createPipesFn: RpcContextCreator['createPipesFn'] = (...args) => {
    [found.pipes, found.parameters] = args as unknown as [readonly unknown[], readonly NestParameter[]];
    return RpcContextCreator.prototype.createPipesFn.apply(creator, args);
  };
  Object.assign(creator, { createGuardsFn, createPipesFn });
  return found;
}
