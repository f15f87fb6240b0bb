import type { Attributes, Context, Link, Span, SpanContext, SpanKind, TimeInput, Tracer } from '@opentelemetry/api';
import type { Publication } from '../backend/index.js';
import type {
  DlxTracing,
  Move,
  ProcessSpan,
  PublishSpan,
  RedriveSpan,
  TracedAttempt,
  TracedError,
} from '../tracing/index.js';
import { type Api, loadApi } from './api.js';
import { getter, incoming, type Incoming, type Outgoing, previousAttempt, setter, withTexts } from './carriers.js';
import { deathEvents, deadLettered } from './deaths.js';
import { fail } from './errors.js';
import { destinationOf, names } from './names.js';
import { checkOptions, type DlxTracingOptions } from './options.js';
import { OtelProcess } from './otel-process.js';
import { OtelRedrive } from './otel-redrive.js';

/** The beginning of a span. */
interface Start {
  readonly kind: SpanKind;
  readonly attributes: Attributes;
  readonly links: Link[];
  readonly startTime?: TimeInput;
}

/**
 * Tracing by OpenTelemetry, for the option `tracing` of `DlxBrokerModule`. Publishes, handlers, retries, parked messages and redrives
 * become spans, and the trace context travels in the headers of the messages.
 * @throws DlxConfigurationError for an unknown or impossible option, and when `@opentelemetry/api` is not installed
 */
export const dlxTracing = (options: DlxTracingOptions = {}): DlxTracing =>
  new OtelTracing(checkOptions(options), loadApi());

class OtelTracing implements DlxTracing {
  readonly #tracer: Tracer;
  readonly #attributes: Attributes;

  constructor(
    private readonly options: DlxTracingOptions,
    private readonly api: Api,
  ) {
    const provider = options.tracerProvider ?? api.trace;
    this.#tracer = provider.getTracer('dlx-broker');
    this.#attributes = { [names.system]: 'rabbitmq', ...options.attributes };
  }

  published(publication: Publication): PublishSpan {
    const { trace, context, propagation, SpanKind } = this.api;
    const { exchange, routingKey, properties } = publication;
    const template = this.options.template?.(exchange, routingKey);
    const destination = destinationOf(exchange, routingKey);
    const active = context.active();
    const own = properties.headers && this.#creationOf(incoming({ own: properties }));
    const span = this.#start(`publish ${template ?? destination}`, active, {
      kind: SpanKind.PRODUCER,
      attributes: {
        [names.operationName]: 'publish',
        [names.operationType]: 'send',
        [names.destination]: destination,
        ...(template !== undefined && { [names.template]: template }),
        ...this.#idsOf(publication.properties, routingKey),
      },
      links: linkTo(own, 'creation'),
    });
    const texts: Outgoing = new Map();
    propagation.inject(trace.setSpan(active, span), texts, setter);
    const headers = withTexts(properties.headers, texts);
    return {
      publication: headers === undefined ? publication : { ...publication, properties: { ...properties, headers } },
      end: (failure) => this.#end(span, failure),
    };
  }

  startProcess({ message, queue, handler, attempt, metadata }: TracedAttempt): ProcessSpan {
    const { trace, SpanKind } = this.api;
    const carrier = { message, metadata };
    const around = this.#contextOf(carrier);
    const creation = trace.getSpanContext(around);
    const parent = this.options.parent === 'link' ? trace.deleteSpan(around) : around;
    const span = this.#start(`process ${queue}`, parent, {
      kind: SpanKind.CONSUMER,
      attributes: {
        [names.operationName]: 'process',
        [names.operationType]: 'process',
        [names.destination]: destinationOf(message.exchange, message.routingKey, queue),
        ...this.#idsOf(message.own, message.routingKey),
        [names.handler]: handler,
        [names.attempt]: attempt,
      },
      links: [...linkTo(creation, 'creation'), ...linkTo(previousAttempt(message), 'previous attempt')],
    });
    if (span.isRecording())
      for (const [name, attributes, time] of deathEvents(message)) span.addEvent(name, attributes, time);
    return new OtelProcess(this.api, span, trace.setSpan(around, span));
  }

  moved(move: Move, process: ProcessSpan | undefined): void {
    const caused = process instanceof OtelProcess ? process : undefined;
    const { message, queue, to, kind, attempt, delay, since, isDeadLetter, refusal, failure } = move;
    if (isDeadLetter) caused?.addEvent(...deadLettered(move));
    if (kind === 'reject' && caused !== undefined) return; // a reject takes no time, and is in the span of its attempt
    const { SpanKind } = this.api;
    const creation = this.#creationOf(incoming(message));
    const span = this.#start(`${kind} ${kind === 'park' ? (to ?? queue) : queue}`, this.#around(caused, creation), {
      kind: SpanKind.CLIENT,
      startTime: since,
      attributes: {
        [names.operationName]: kind,
        [names.operationType]: 'settle',
        [names.destination]: destinationOf(message.exchange, message.routingKey, queue),
        ...this.#idsOf(message.own, message.routingKey),
        ...(to !== undefined && { [names.to]: to }),
        ...(attempt !== undefined && { [names.attempt]: attempt }),
        ...(delay !== undefined && { [names.delay]: delay }),
      },
      links: linkTo(creation, 'creation'),
    });
    if (isDeadLetter && caused === undefined) span.addEvent(...deadLettered(move));
    this.#end(span, failure ?? refusal);
  }

  redrive(queues: readonly string[]): RedriveSpan {
    const { context, SpanKind } = this.api;
    const span = this.#start(`redrive ${queues[0] ?? ''}`, context.active(), {
      kind: SpanKind.INTERNAL,
      attributes: { [names.operationName]: 'redrive', [names.destination]: queues.join(',').slice(0, 1024) },
      links: [],
    });
    return new OtelRedrive(
      span,
      (message) => this.#creationOf(incoming(message)),
      (failure) => this.#end(span, failure),
    );
  }

  #start(name: string, parent: Context, { attributes, ...start }: Start): Span {
    return this.#tracer.startSpan(name, { ...start, attributes: { ...this.#attributes, ...attributes } }, parent);
  }

  /** The context of a message: that of the application, with the trace and the baggage of the publisher. */
  #contextOf(carrier: Incoming): Context {
    const { trace, context, propagation } = this.api;
    // The application may have been started inside a span, which is no parent of its messages.
    return propagation.extract(trace.deleteSpan(context.active()), carrier, getter);
  }

  /** The span in which a message was published first. */
  #creationOf(carrier: Incoming): SpanContext | undefined {
    const { trace, propagation, ROOT_CONTEXT } = this.api;
    return trace.getSpanContext(propagation.extract(ROOT_CONTEXT, carrier, getter));
  }

  /** The context of a move: the attempt that caused it, a span of the application that is under way, or the publisher. */
  #around(process: OtelProcess | undefined, creation: SpanContext | undefined): Context {
    const { trace, context, TraceFlags } = this.api;
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

  #idsOf({ messageId, correlationId }: Publication['properties'], routingKey: string): Attributes {
    return {
      ...(routingKey !== '' && { [names.routingKey]: routingKey }),
      ...(messageId !== undefined && { [names.messageId]: messageId }),
      ...(correlationId !== undefined && { [names.conversationId]: correlationId }),
    };
  }

  #end(span: Span, failure: TracedError | undefined): void {
    if (failure !== undefined) fail(this.api, span, failure);
    span.end();
  }
}

/** A link to a span. */
const linkTo = (context: SpanContext | undefined, link: 'creation' | 'previous attempt'): Link[] =>
  context === undefined ? [] : [{ context, attributes: { [names.link]: link } }];
