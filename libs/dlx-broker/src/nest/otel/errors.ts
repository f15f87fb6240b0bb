import type { Span } from '@opentelemetry/api';
import type { TracedError } from '../tracing/index.js';
import type { Api } from './api.js';
import { ofError } from './attributes.js';

/** The most characters of an error in a span, as in the headers of a dead letter. */
const longest = { name: 255, message: 1024, stack: 2048 } as const;

/** Notes an error in a span. */
export function fail({ SpanStatusCode }: Api, span: Span, error: TracedError): void {
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
