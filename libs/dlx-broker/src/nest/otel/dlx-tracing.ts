import {
  type Attributes,
  context,
  type Context,
  isSpanContextValid,
  type Link,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type TimeInput,
  trace,
  TraceFlags,
  type Tracer,
  type TracerProvider,
} from '@opentelemetry/api';
import type { Publication } from '../../backends/index.js';
import { deathsOf, type Message } from '../../engine/message/index.js';
import { DlxConfigurationError, oneOf, optionsOf, refused } from '../../platform/options/index.js';
import {
  type DlxTracing,
  type Move,
  type ProcessOutcome,
  type ProcessSpan,
  type PublishSpan,
  type RedriveSpan,
  timeOfMove,
  type TracedAttempt,
  type TracedError,
} from '../tracing/index.js';
import {
  deadLetteredEvent,
  deathEvent,
  destinationOf,
  ofCreation,
  ofDeadLetter,
  ofDeath,
  ofError,
  ofMove,
  ofOutcome,
  ofPreviousAttempt,
  ofProcess,
  ofPublish,
  ofRedrive,
  ofRedriven,
} from './attributes.js';
import {
  getter,
  incoming,
  type Incoming,
  type Outgoing,
  previousAttempt,
  setter,
  textOf,
  withTexts,
} from './carriers.js';

/** An event of a span: its name, its attributes and its time. */
type SpanEvent = readonly [name: string, attributes: Attributes, time?: TimeInput];

/** The most deaths of a message that become events, the latest ones. */
const mostDeaths = 16;

/** The latest time that a Date has, in milliseconds since 1970. */
const latest = 8.64e15;

/** Adds the deaths of a message, which are its header `x-death`, to the span of an attempt: the oldest first. */
function addDeaths(span: Span, message: Message): void {
  const deaths = deathsOf(message);
  for (let index = Math.min(deaths.length, mostDeaths) - 1; index >= 0; index--) {
    const death = deaths[index]!;
    const isTime = death.time > 0 && death.time <= latest;
    span.addEvent(deathEvent, ofDeath(death), isTime ? death.time : undefined);
  }
}

const deadLettered = (move: Move): SpanEvent => [deadLetteredEvent, ofDeadLetter(move)];

/** The most characters of an error in a span, as in the headers of a dead letter. */
const longest = { name: 255, message: 1024, stack: 2048 } as const;

/** Notes an error in a span. */
function fail(span: Span, error: TracedError): void {
  const name = cut(error.name, longest.name) ?? 'Error';
  const message = cut(error.message, longest.message) ?? '';
  const stack = cut(error.stack, longest.stack);
  span.setAttributes(ofError(name));
  span.recordException({ name, message, ...(stack !== undefined && { stack }) });
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}

/** An error of the application may have anything as its message. */
const cut = (text: unknown, length: number): string | undefined =>
  typeof text === 'string' ? text.slice(0, length) : undefined;

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

const remedy = "write { parent: 'link' }";
const known = ['parent', 'template', 'attributes', 'tracerProvider'] as const;

/** @throws DlxConfigurationError naming the option and the value */
function checkOptions(options: DlxTracingOptions): DlxTracingOptions {
  const { parent, template, attributes, tracerProvider } = optionsOf<DlxTracingOptions>(options, origin, remedy, known);
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

/** The span of one attempt of one handler. Its end is that of the handler; the outcome is added later. */
class OtelProcess implements ProcessSpan {
  #end: number | undefined;

  /** @param context what the handler runs in: this span is the active one */
  constructor(
    private readonly span: Span,
    readonly context: Context,
  ) {}

  get header(): string | undefined {
    const own = this.span.spanContext();
    return isSpanContextValid(own) ? textOf(own) : undefined;
  }

  run(handle: () => void): void {
    context.with(this.context, handle);
  }

  handled(): void {
    this.#end ??= timeOfMove();
  }

  addEvent(...[name, attributes, time]: SpanEvent): void {
    this.span.addEvent(name, attributes, time ?? this.#end);
  }

  end(outcome: ProcessOutcome, error?: TracedError): void {
    this.span.setAttributes(ofOutcome(outcome));
    if (error !== undefined) fail(this.span, error);
    this.span.end(this.#end);
  }
}

/** The most links of one span, which is the default limit of OpenTelemetry. */
const mostLinks = 128;

/** The span of a redrive, with links to the publishes of the first messages that it moves. */
class OtelRedrive implements RedriveSpan {
  #links = 0;

  constructor(
    private readonly span: Span,
    private readonly creationOf: (message: Message) => SpanContext | undefined,
    private readonly close: (failure: TracedError | undefined) => void,
  ) {}

  moved(message: Message): void {
    if (this.#links >= mostLinks || !this.span.isRecording()) return;
    const context = this.creationOf(message);
    if (context === undefined) return;
    this.#links++;
    this.span.addLink({ context, attributes: ofCreation });
  }

  end(redriven: number, state: string, failure?: TracedError): void {
    this.span.setAttributes(ofRedriven(redriven, state));
    this.close(failure);
  }
}

/**
 * Tracing by OpenTelemetry, for the option `tracing` of `DlxBrokerModule`. Publishes, handlers, retries, parked messages and redrives
 * become spans, and the trace context travels in the headers of the messages.
 * @throws DlxConfigurationError for an unknown or impossible option
 */
export const dlxTracing = (options: DlxTracingOptions = {}): DlxTracing => new OtelTracing(checkOptions(options));

class OtelTracing implements DlxTracing {
  readonly #tracer: Tracer;

  constructor(private readonly options: DlxTracingOptions) {
    const provider = options.tracerProvider ?? trace;
    this.#tracer = provider.getTracer('dlx-broker');
  }

  published(publication: Publication): PublishSpan {
    const { exchange, routingKey, properties } = publication;
    const template = this.options.template?.(exchange, routingKey);
    const active = context.active();
    const own = properties.headers && this.#creationOf(incoming({ own: properties }));
    const attributes = ofPublish(exchange, routingKey, properties, template);
    const name = `publish ${template ?? destinationOf(exchange, routingKey)}`;
    const span = this.#start(name, active, SpanKind.PRODUCER, attributes, linksTo(own));
    const texts: Outgoing = new Map();
    propagation.inject(trace.setSpan(active, span), texts, setter);
    const headers = withTexts(properties.headers, texts);
    return {
      publication: headers === undefined ? publication : { ...publication, properties: { ...properties, headers } },
      end: (failure) => this.#end(span, failure),
    };
  }

  startProcess(attempt: TracedAttempt): ProcessSpan {
    const { message, queue } = attempt;
    const around = this.#contextOf(attempt);
    const creation = trace.getSpanContext(around);
    const parent = this.options.parent === 'link' ? trace.deleteSpan(around) : around;
    const links = linksTo(creation, previousAttempt(message));
    const span = this.#start(`process ${queue}`, parent, SpanKind.CONSUMER, ofProcess(attempt), links);
    if (span.isRecording()) addDeaths(span, message);
    return new OtelProcess(span, trace.setSpan(around, span));
  }

  moved(move: Move, process: ProcessSpan | undefined): void {
    const caused = process instanceof OtelProcess ? process : undefined;
    const { message, queue, to, kind, since, isDeadLetter, refusal, failure } = move;
    if (isDeadLetter) caused?.addEvent(...deadLettered(move));
    if (kind === 'reject' && caused !== undefined) return; // a reject takes no time, and is in the span of its attempt
    const creation = this.#creationOf(incoming(message));
    const name = `${kind} ${kind === 'park' ? (to ?? queue) : queue}`;
    const around = this.#around(caused, creation);
    const span = this.#start(name, around, SpanKind.CLIENT, ofMove(move), linksTo(creation), since);
    if (isDeadLetter && caused === undefined) span.addEvent(...deadLettered(move));
    this.#end(span, failure ?? refusal);
  }

  redrive(queues: readonly string[]): RedriveSpan {
    const span = this.#start(`redrive ${queues[0] ?? ''}`, context.active(), SpanKind.INTERNAL, ofRedrive(queues), []);
    return new OtelRedrive(
      span,
      (message) => this.#creationOf(incoming(message)),
      (failure) => this.#end(span, failure),
    );
  }

  #start(name: string, parent: Context, kind: SpanKind, own: Attributes, links: Link[], startTime?: TimeInput): Span {
    const { attributes: ofAll } = this.options;
    const attributes = ofAll === undefined ? own : { ...ofAll, ...own };
    return this.#tracer.startSpan(
      name,
      startTime === undefined ? { kind, attributes, links } : { kind, attributes, links, startTime },
      parent,
    );
  }

  /** The context of a message: that of the application, with the trace and the baggage of the publisher. */
  #contextOf(carrier: Incoming): Context {
    // The application may have been started inside a span, which is no parent of its messages.
    return propagation.extract(trace.deleteSpan(context.active()), carrier, getter);
  }

  /** The span in which a message was published first. */
  #creationOf(carrier: Incoming): SpanContext | undefined {
    return trace.getSpanContext(propagation.extract(ROOT_CONTEXT, carrier, getter));
  }

  /** The context of a move: the attempt that caused it, a span of the application that is under way, or the publisher. */
  #around(process: OtelProcess | undefined, creation: SpanContext | undefined): Context {
    if (process !== undefined) return process.context;
    const active = context.active();
    const span = trace.getSpan(active);
    // The span in which the application was started has ended, and a span that is not sampled never records.
    const isUnderWay =
      span !== undefined && (span.isRecording() || (span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0);
    if (isUnderWay) return active;
    const none = trace.deleteSpan(active);
    return creation === undefined || this.options.parent === 'link' ? none : trace.setSpanContext(none, creation);
  }

  #end(span: Span, failure: TracedError | undefined): void {
    if (failure !== undefined) fail(span, failure);
    span.end();
  }
}

function linksTo(creation: SpanContext | undefined, previous?: SpanContext): Link[] {
  const links: Link[] = [];
  if (creation !== undefined) links.push({ context: creation, attributes: ofCreation });
  if (previous !== undefined) links.push({ context: previous, attributes: ofPreviousAttempt });
  return links;
}
