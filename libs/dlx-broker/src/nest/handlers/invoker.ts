import { type ApplicationConfig, type ContextId, ContextIdFactory, type ModulesContainer } from '@nestjs/core';
import { CapturingRpcProxy, filtered, isCaptureHook } from './capture.js';
import type { DlxContext } from '../core/context.js';
import type { DiscoveredMethod } from './explorer.js';
import type { Handler } from '../core/handler.js';
import {
  creatorForOneMethod,
  ExceptionFiltersContext,
  GuardsConsumer,
  GuardsContextCreator,
  type HandlerParts,
  Injector,
  InterceptorsConsumer,
  InterceptorsContextCreator,
  noteEnhancers,
  PipesConsumer,
  PipesContextCreator,
  preRequestHooksOf,
  REQUEST_CONTEXT_ID,
  RequestContextHost,
  type RpcContextCreator,
  STATIC_CONTEXT,
} from './nest-versions.js';
import { plainArguments, plainInvoke } from './plain-invoke.js';

type Container = ConstructorParameters<typeof GuardsContextCreator>[0];
type Invoke = Handler['invoke'];
type Method = (...args: unknown[]) => never;

/**
 * The name of a method for Nest, whose type is text. Nest accepts symbols as well: it only looks up the method and its metadata.
 */
const keyOf = ({ methodName }: DiscoveredMethod): string => methodName as string;

/** Registers the value that a request-scoped provider gets when it injects `REQUEST`. */
export type RegisterRequest = (request: unknown, contextId: ContextId) => void;

/**
 * Puts guards, pipes, interceptors and filters around a method, exactly as Nest does for `@EventPattern` on a
 * controller, but for any provider. The enhancers are those of the application, the module, the class and the method.
 */
export class Invoker {
  readonly #creator: () => RpcContextCreator;
  readonly #filters: ExceptionFiltersContext;
  readonly #interceptors: InterceptorsContextCreator;
  readonly #proxy = new CapturingRpcProxy();
  /** True if the application has pre-request hooks of its own. */
  readonly #hasHooks: () => boolean;
  readonly #injector = new Injector();

  constructor(
    modules: ModulesContainer,
    config: ApplicationConfig,
    private readonly registerRequest: RegisterRequest,
  ) {
    const container = { getModules: () => modules } as unknown as Container;
    this.#filters = new ExceptionFiltersContext(container, config);
    // The proxy notes failures itself, so the hook of this library is left out.
    const hooks = preRequestHooksOf(config);
    const others = hooks && {
      getGlobalPreRequestHooks: () => hooks.getGlobalPreRequestHooks().filter((hook) => !isCaptureHook(hook)),
    };
    this.#hasHooks = () => others !== undefined && others.getGlobalPreRequestHooks().length > 0;
    this.#interceptors = new InterceptorsContextCreator(container, config);
    const parts: HandlerParts = [
      this.#proxy,
      this.#filters,
      new PipesContextCreator(container, config),
      new PipesConsumer(),
      new GuardsContextCreator(container, config),
      new GuardsConsumer(),
      this.#interceptors,
      new InterceptorsConsumer(),
    ];
    this.#creator = () => creatorForOneMethod(parts, others);
  }

  /** @param moduleKey Nest's key of the module of the method */
  bind(method: DiscoveredMethod, moduleKey: string): Invoke {
    const { wrapper } = method;
    const methodName = keyOf(method);
    if (!wrapper.isDependencyTreeStatic()) return this.#bindScoped(method, moduleKey);
    const instance = wrapper.instance as Record<string, Method>;
    const callback = instance[methodName]!;
    const creator = this.#creator();
    const found = noteEnhancers(creator);
    const proxy = creator.create(instance, callback, moduleKey, methodName, STATIC_CONTEXT);
    const isIntercepted = this.#interceptors.create(instance, callback, moduleKey, STATIC_CONTEXT).length > 0;
    const argumentsOf = isIntercepted || this.#hasHooks() ? undefined : plainArguments(found);
    if (argumentsOf === undefined) return (data, context) => proxy(data, context);
    const filters = this.#filters.create(instance, callback, moduleKey);
    return plainInvoke(instance, callback, argumentsOf, this.#proxy, filters);
  }

  /** Makes a new instance for every message, or one for each tenant if the application has such a strategy. */
  #bindScoped(method: DiscoveredMethod, moduleKey: string): Invoke {
    const { wrapper, module, inController } = method;
    const methodName = keyOf(method);
    const collection = inController ? module.controllers : module.providers;
    const durable = wrapper.isDependencyTreeDurable();
    const creator = this.#creator();
    return async (data, context) => {
      try {
        const contextId = this.#contextOf(new RequestContextHost(context.getPattern(), data, context), durable);
        const instance = (await this.#injector.loadPerContext(
          wrapper.instance as object,
          module,
          collection,
          contextId,
          wrapper,
        )) as Record<string, Method>;
        const proxy = creator.create(instance, instance[methodName]!, moduleKey, methodName, contextId, wrapper.id);
        return await proxy(data, context);
      } catch (error) {
        return this.#resolutionFailed(error, method, moduleKey, data, context);
      }
    };
  }

  #contextOf(request: RequestContextHost, durable: boolean): ContextId {
    const contextId = ContextIdFactory.getByRequest(request);
    Object.defineProperty(request, REQUEST_CONTEXT_ID, { value: contextId });
    this.registerRequest(durable ? contextId.payload : Object.assign(request, contextId.payload), contextId);
    return contextId;
  }

  /** A dependency could not be made. The filters get this error as well. */
  #resolutionFailed(
    error: unknown,
    method: DiscoveredMethod,
    moduleKey: string,
    data: unknown,
    context: DlxContext,
  ): unknown {
    context.capture(error);
    const prototype = method.hostedBy as Record<string, Method>;
    const filter = this.#filters.create(prototype, prototype[keyOf(method)]!, moduleKey);
    return filtered(filter, [data, context], error);
  }
}
