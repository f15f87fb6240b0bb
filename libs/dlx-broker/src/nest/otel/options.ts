import type { Attributes, TracerProvider } from '@opentelemetry/api';
import { DlxConfigurationError, oneOf, optionsOf, refused, refuseUnknown } from '../../platform/options/index.js';

/** Options of {@link dlxTracing}. */
export interface DlxTracingOptions {
  /**
   * How a handler's span belongs to the trace of the publisher. `child` (the default): in the same trace, below the span of the publish.
   * `link`: each attempt begins a trace of its own, with a link to the publish. Both have the links.
   */
  readonly parent?: 'child' | 'link';
  /**
   * The destination in the names of spans of publishes, for routing keys that have ids: `orders:order.*.created`. Undefined: exchange
   * and routing key.
   */
  readonly template?: (exchange: string, routingKey: string) => string | undefined;
  /** Attributes of every span, such as `server.address` of a RabbitMQ. */
  readonly attributes?: Attributes;
  /** Where the tracer comes from. Default: the provider that the application registered. */
  readonly tracerProvider?: TracerProvider;
}

const origin = 'dlxTracing';

const known = { parent: true, template: true, attributes: true, tracerProvider: true } satisfies Record<
  keyof DlxTracingOptions,
  true
>;

/** @throws DlxConfigurationError naming the option and the value */
export function checkOptions(options: DlxTracingOptions): DlxTracingOptions {
  refuseUnknown(optionsOf(options, origin, "write { parent: 'link' }"), Object.keys(known), origin);
  const { parent, template, attributes, tracerProvider } = options;
  if (parent !== undefined) oneOf('child', 'link').read(parent, `parent of ${origin}`);
  if (template !== undefined && typeof template !== 'function') {
    throw refused(template, `template of ${origin}`, "is not a function; write (exchange, key) => 'orders:order.*'");
  }
  if (attributes !== undefined)
    optionsOf(attributes, `attributes of ${origin}`, "write { 'server.address': 'rabbit' }");
  if (tracerProvider !== undefined && typeof (tracerProvider as Partial<TracerProvider>)?.getTracer !== 'function') {
    throw new DlxConfigurationError(
      `${origin}: tracerProvider has no method getTracer; give a TracerProvider, or leave it out`,
    );
  }
  return options;
}
