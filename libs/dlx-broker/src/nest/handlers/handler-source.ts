import type { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { DlxConfigurationError, shown } from '../../platform/options/index.js';
import { type Contributions } from '../../backends/topology/index.js';
import { refuseUnknownBroker } from '../module/broker-names.js';
import { type Contribution, contributionsOf } from '../decorators/contribution.js';
import { decoratorTable } from '../decorators/table.js';
import { Above } from './above.js';
import { type DiscoveredMethod, handlersAmong } from './explorer.js';
import { consumedPatterns } from '../core/plan.js';
import { featuresOf } from '../module/feature.js';
import type { Handler } from '../core/handler.js';
import { type FeatureDecorator, readSettings } from '../core/handler-settings.js';
import { Invoker, type RegisterRequest } from './invoker.js';
import type { Module } from './nest-versions.js';
import { defaultBrokerName } from '../module/options.js';
import { type AddedHandler, DlxServer, getDlxTransportId } from '../module/server.js';

/**
 * Finds the handlers of one broker: methods with `@Consume`, which this library binds, and handlers that Nest added to the
 * server, with the decorators of this library on them.
 */
export class HandlerSource {
  #above: Above | undefined;
  #methods: readonly DiscoveredMethod[] | undefined;
  #consuming: readonly Handler[] | undefined;
  #features: readonly Required<Contributions>[] | undefined;
  #adopted = 0;
  readonly #ofServer: Handler[] = [];
  readonly #byMethod = new Map<DiscoveredMethod, string[]>();
  readonly #additions = new Map<object, Map<string, number>>();
  /** The decorators that make a method a handler without Nest's transport. */
  readonly #ways: readonly string[];

  constructor(
    private readonly broker: string,
    private readonly modules: ModulesContainer,
    private readonly config: ApplicationConfig,
    private readonly registerRequest: RegisterRequest,
    /** The decorators of features. */
    private readonly decorators: readonly FeatureDecorator<unknown>[],
    /** Finds the methods with `@OnDeadLetter`, once. @throws DlxConfigurationError */
    private readonly hookDeaths?: (above: Above) => void,
  ) {
    this.#ways = ['Consume', ...decorators.flatMap(({ names, binds }) => (binds === undefined ? [] : names))];
  }

  /** Calls the functions of `@HandlerAsync`. @param waits see {@link Above.of} @throws DlxConfigurationError naming the handler */
  async prepare(waits: (origin: string) => void): Promise<void> {
    this.#above = await Above.of(this.modules, waits);
  }

  /** The methods with `@Consume`. */
  ofModule(): readonly Handler[] {
    return (this.#consuming ??= this.#bindConsuming());
  }

  /** The declarations of `forFeature`. */
  features(): readonly Required<Contributions>[] {
    return (this.#features ??= featuresOf(this.modules, this.broker));
  }

  /** The methods with `@EventPattern` and `@MessagePattern`, once Nest has added them. */
  ofServer(server: DlxServer): readonly Handler[] {
    for (const added of server.added.slice(this.#adopted)) this.#adopt(added);
    this.#adopted = server.added.length;
    return this.#ofServer;
  }

  /** Methods with Nest's patterns that Nest added to no server, for the transport of this broker or for any. */
  unserved(server: DlxServer): readonly string[] {
    if (server.added.length > 0) return [];
    const all = [...this.modules.values()].flatMap(({ providers }) => [...providers.values()]);
    const served = all.some(({ instance }) => instance instanceof DlxServer && instance.added.length > 0);
    return this.#discovered()
      .filter(({ patternExtras, inController, transport }) => {
        if (patternExtras === undefined || !inController) return false;
        if (transport !== undefined) return transport === server.transportId;
        return !served && this.broker === defaultBrokerName;
      })
      .map(({ origin }) => origin);
  }

  /** Methods of providers that have only Nest's patterns, which Nest reads in controllers only. */
  misplaced(): readonly string[] {
    if (this.broker !== defaultBrokerName) return [];
    const all = this.#discovered();
    const inControllers = new Set(all.filter(({ inController }) => inController).map(({ hostedBy }) => hostedBy));
    return all
      .filter(({ patternExtras, contributions, transport, hostedBy }) => {
        const isOurs = transport === undefined && contributions.length === 0;
        return patternExtras !== undefined && isOurs && !inControllers.has(hostedBy);
      })
      .map(({ origin }) => origin);
  }

  #bindConsuming(): readonly Handler[] {
    const all = this.#discovered();
    this.hookDeaths?.(this.#read);
    const invoker = new Invoker(this.modules, this.config, this.registerRequest);
    const handlers: Handler[] = [];
    for (const method of all) {
      const { origin, contributions } = method;
      if (contributions.length === 0) continue;
      if (!this.#isBound(method)) {
        this.#refuseUnbound(method);
        continue;
      }
      const settings = readSettings(contributions, origin, this.decorators);
      const asked = settings.consume?.broker ?? defaultBrokerName;
      refuseUnknownBroker(this.modules, asked, `@Consume on ${origin}`);
      this.#refuseSecondWay(method, asked);
      if (asked !== this.broker) continue;
      const { kind, pattern } = settings.bound ?? { kind: 'consume', pattern: undefined };
      const patterns = pattern === undefined ? consumedPatterns(settings, origin) : [pattern];
      // The method is bound at its first message, because global guards and pipes may be set until the application starts.
      let bound: Handler['invoke'] | undefined;
      const bind = (): Handler['invoke'] => invoker.bind(method, this.#keyOf(method.module));
      const invoke: Handler['invoke'] = (data, context) => {
        if (kind === 'request') context.markHooked(); // the invoker notes failures, and needs no hook
        return (bound ??= bind())(data, context);
      };
      handlers.push({ origin, kind, patterns, settings, method, invoke });
    }
    return handlers;
  }

  /** Makes a handler of what Nest added. Nest adds a method once for each pattern; it stays one handler with one queue. */
  #adopt(added: AddedHandler): void {
    const owners = this.#discovered().filter(
      ({ patternExtras, inController }) => inController && patternExtras === added.extras,
    );
    // A method inherited by several controllers is added once for each of them, in the order they are visited.
    const method = owners[this.#countAddition(added)];
    if (owners.length > 0 && method === undefined) return; // Nest added all handlers a second time
    const known = method && this.#byMethod.get(method);
    const origin = method?.origin ?? added.pattern;
    const settings = readSettings(method?.contributions ?? [], origin, this.decorators);
    if (known !== undefined) {
      known.push(added.pattern);
      return;
    }
    const patterns = [added.pattern];
    if (method !== undefined) this.#byMethod.set(method, patterns);
    this.#ofServer.push({
      origin,
      kind: added.isEvent ? 'event' : 'request',
      patterns,
      settings,
      method,
      invoke: added.callback,
    });
  }

  /** How often Nest added this pattern of this method before. */
  #countAddition({ extras, pattern }: AddedHandler): number {
    const patterns = this.#additions.get(extras) ?? new Map<string, number>();
    const count = patterns.get(pattern) ?? 0;
    this.#additions.set(extras, patterns.set(pattern, count + 1));
    return count;
  }

  #discovered(): readonly DiscoveredMethod[] {
    const above = this.#read;
    return (this.#methods ??= [...handlersAmong(above.methods, (found) => above.read(contributionsOf, found))]);
  }

  get #read(): Above {
    return (this.#above ??= Above.early(this.modules));
  }

  #keyOf(wanted: Module): string {
    for (const [key, module] of this.modules) if (module === wanted) return key;
    return '';
  }

  /** True for a method that this library binds. Beside a pattern of Nest, the decorator of a feature is for Nest's handler. */
  #isBound({ contributions, patternExtras, inController }: DiscoveredMethod): boolean {
    const isServed = patternExtras !== undefined && inController;
    return contributions.some(
      ({ decorator }) => decorator === 'Consume' || (!isServed && this.#ways.includes(decorator)),
    );
  }

  /**
   * Refuses a pattern of Nest on a method that this library binds: one of them would have no effect. A pattern for another transport
   * is Nest's, and the method serves both.
   */
  #refuseSecondWay(method: DiscoveredMethod, broker: string): void {
    const { origin, contributions, patternExtras, inController, transport } = method;
    if (patternExtras === undefined || (transport !== undefined && transport !== getDlxTransportId(broker))) return;
    const way = `@${contributions.find(({ decorator }) => this.#ways.includes(decorator))?.decorator}`;
    const remedy = inController
      ? "keep one of them, or name the other transport that serves the pattern: @EventPattern('x', Transport.TCP)"
      : `keep ${way} only, because Nest reads patterns in controllers only`;
    throw new DlxConfigurationError(
      `${way} on ${origin} makes it a handler, so @EventPattern or @MessagePattern beside it would have no effect; ${remedy}`,
    );
  }

  /** Refuses decorators of a method that is no handler: they would have no effect. */
  #refuseUnbound({ origin, contributions, patternExtras, inController }: DiscoveredMethod): void {
    if (patternExtras !== undefined && inController) return;
    const all = contributions.map(({ decorator }) => `@${decorator}`).join(', ');
    const ways = this.#ways.map((way) => `@${way}`).join(', ');
    const reason =
      patternExtras === undefined
        ? `${contributions.length === 1 ? 'needs' : 'need'} ${ways}, @EventPattern or @MessagePattern beside it`
        : `${contributions.length === 1 ? 'is' : 'are'} in a provider, where Nest does not look for @EventPattern and @MessagePattern; use @Consume`;
    throw new DlxConfigurationError(`${all} on ${origin} ${reason}${queueAlone(contributions)}`);
  }
}

/** How a queue without a consumer is declared, if all decorators are about the queue: where messages wait until they expire. */
function queueAlone(contributions: readonly Contribution[]): string {
  const isOfQueue = ({ decorator }: Contribution): boolean =>
    decorator === 'Queue' || decoratorTable.some((row) => row.of === 'queue' && row.decorator === decorator);
  if (!contributions.every(isOfQueue)) return '';
  const given = (decorator: string, setting: string): unknown =>
    contributions.find((contribution) => contribution.decorator === decorator)?.settings[setting];
  const settings = [
    ['ttl', given('Ttl', 'value')],
    ['deadLetter', given('DeadLetter', 'exchange')],
  ].flatMap(([name, value]) => (value === undefined ? [] : [`${name as string}: ${shown(value)}`]));
  const written = settings.length === 0 ? '...' : `{ ${settings.join(', ')} }`;
  const declared = `queues: [queue(${shown(given('Queue', 'name') ?? 'orders')}, ${written})]`;
  return `; a queue in which messages wait without a consumer is declared by forRoot({ topology: { ${declared} } }) or by forFeature({ ${declared} })`;
}
