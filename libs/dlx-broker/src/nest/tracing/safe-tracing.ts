import type { Publication } from '../../backends/index.js';
import type { Message } from '../../engine/message/index.js';
import type {
  DlxTracing,
  Move,
  ProcessOutcome,
  ProcessSpan,
  PublishSpan,
  RedriveSpan,
  TracedAttempt,
  TracedError,
} from './port.js';

/** Calls code of a tracing library. @returns undefined if it throws */
type Try = <T>(call: () => T) => T | undefined;

/**
 * Tracing that never throws. Exporters, samplers and processors of spans are code of the application, and a message must not be lost
 * for them. The first failure is reported.
 */
export class SafeTracing implements DlxTracing {
  #reported = false;

  /** @param report called once, with what was thrown */
  constructor(
    private readonly tracing: DlxTracing,
    private readonly report: (failure: unknown) => void,
  ) {}

  readonly #try: Try = (call) => {
    try {
      return call();
    } catch (failure) {
      if (!this.#reported) {
        this.#reported = true;
        this.report(failure);
      }
      return undefined;
    }
  };

  published(publication: Publication): PublishSpan | undefined {
    return this.#try(() => {
      const span = spanIn(this.tracing.published(publication));
      return span && new SafePublish(span, this.#try);
    });
  }

  startProcess(attempt: TracedAttempt): SafeProcess | undefined {
    const span = this.#try(() => spanIn(this.tracing.startProcess(attempt)));
    return span && new SafeProcess(span, this.#try);
  }

  moved(move: Move, process: SafeProcess | undefined): void {
    this.#try(() => this.tracing.moved(move, process?.span));
  }

  redrive(queues: readonly string[]): RedriveSpan | undefined {
    const span = this.#try(() => spanIn(this.tracing.redrive(queues)));
    return span && new SafeRedrive(span, this.#try);
  }
}

/** @throws TypeError for what is neither a span nor undefined */
function spanIn<Span extends object>(span: Span | undefined): Span | undefined {
  if (span === undefined || (typeof span === 'object' && (span as unknown) !== null)) return span;
  throw new TypeError('the tracing library returned no span; return undefined for none');
}

class SafePublish implements PublishSpan {
  readonly publication: Publication;

  constructor(
    private readonly span: PublishSpan,
    private readonly attempt: Try,
  ) {
    const { publication } = span;
    // A broker would refuse it, and the message would be lost for its span.
    if (typeof publication !== 'object' || publication === null || publication.body === undefined) {
      throw new TypeError('the span of a publish has no publication');
    }
    this.publication = publication;
  }

  end(failure?: TracedError): void {
    this.attempt(() => this.span.end(failure));
  }
}

/** The most characters of a header for the next attempt, as of a `traceparent`. */
const longest = 256;

/** @throws TypeError for what cannot be written into a message */
function headerOf({ header }: ProcessSpan): string | undefined {
  if (header === undefined || (typeof header === 'string' && header.length <= longest)) return header;
  throw new TypeError(`the header of a span is no text of up to ${longest} characters`);
}

/** The span of an attempt. */
export class SafeProcess implements ProcessSpan {
  readonly header: string | undefined;
  #isOver = false;

  constructor(
    readonly span: ProcessSpan,
    private readonly attempt: Try,
  ) {
    this.header = attempt(() => headerOf(span));
  }

  /** Calls the function once. @returns what it returns; throws what it throws, whatever the library does */
  run<T>(handle: () => T): T {
    let end: (() => T) | undefined;
    const once = (): void => {
      if (end !== undefined) return;
      try {
        const value = handle();
        end = () => value;
      } catch (error) {
        end = () => {
          throw error;
        };
      }
    };
    this.attempt(() => this.span.run(once));
    once();
    return end!();
  }

  handled(): void {
    this.attempt(() => this.span.handled());
  }

  end(outcome: ProcessOutcome, error?: TracedError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.attempt(() => this.span.end(outcome, error));
  }
}

class SafeRedrive implements RedriveSpan {
  constructor(
    private readonly span: RedriveSpan,
    private readonly attempt: Try,
  ) {}

  moved(message: Message): void {
    this.attempt(() => this.span.moved(message));
  }

  end(redriven: number, state: string, failure?: TracedError): void {
    this.attempt(() => this.span.end(redriven, state, failure));
  }
}
