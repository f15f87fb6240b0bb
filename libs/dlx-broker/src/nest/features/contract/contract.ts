import { OwnTimers, SystemClock } from '../../../platform/index.js';
import { isShortstr, maxShortstrBytes } from '../../../engine/message/index.js';
import {
  checkMethods,
  DlxConfigurationError,
  optionsOf,
  parseDuration,
  refused,
} from '../../../platform/options/index.js';
import { check, type Term } from './check.js';
import type { StandardSchema } from './standard-schema.js';

/** The schema of an event. */
export interface EventOptions<In = unknown, T = In> {
  /** Checks the payload when it is published, and again before a handler gets it. Default: only the compiler checks. */
  readonly schema?: StandardSchema<In, T>;
  /** How long a schema that answers by a promise may take: milliseconds or `'10s'`, which is the default. */
  readonly timeout?: number | string;
}

/** The schemas of a request and of its answer. */
export interface RequestOptions<In = unknown, T = In, AnswerIn = unknown, Answer = AnswerIn> extends EventOptions<
  In,
  T
> {
  /** Checks the answer when the handler returns it, and again before the caller gets it. */
  readonly answer?: StandardSchema<AnswerIn, Answer>;
}

/** What contracts have in common. */
export abstract class Contract<T = unknown, In = T> {
  abstract readonly kind: 'event' | 'request';
  /** The schema of the payload; undefined without one. */
  readonly schema: StandardSchema<In, T> | undefined;
  /** @internal */
  readonly payload: Term | undefined;

  protected constructor(
    /** The routing key. */
    readonly pattern: string,
    { schema, timeout = '10s' }: EventOptions<In, T>,
    name: string,
  ) {
    this.schema = schema;
    const limit = parseDuration(timeout, `timeout of ${name}`);
    if (limit === 0) throw refused(timeout, `timeout of ${name}`, 'is no time at all; leave it out for 10 s');
    this.payload = termOf(schema, `the payload of '${pattern}'`, pattern, limit);
    this.timeout = limit;
  }

  /** @internal In milliseconds. */
  protected readonly timeout: number;

  /**
   * Checks a payload as a handler would get it, for letters of a stream, and in tests. Without a schema the value is returned as it is.
   * @returns what the schema made of it; rejects with a ContractError
   */
  async read(payload: unknown): Promise<T> {
    if (this.payload === undefined) return payload as T;
    const { failure, value } = await check(this.payload, payload, {
      timers: new OwnTimers(new SystemClock()),
      failsAtClose: false,
    });
    if (failure !== undefined) throw failure;
    return value as T;
  }
}

/** An event: its routing key, and what its payload is. `T` is what handlers get, `In` what publishers give. Made by {@link event}. */
export class EventContract<T = unknown, In = T> extends Contract<T, In> {
  readonly kind = 'event';

  /** @internal */
  constructor(pattern: string, options: EventOptions<In, T>) {
    super(pattern, options, `event('${pattern}')`);
  }
}

/**
 * A request: its routing key, what its payload is, and what its answer is. `T` is what the handler gets, `Answer` what the caller gets,
 * `In` what the caller gives, `AnswerIn` what the handler returns. Made by {@link request}.
 */
export class RequestContract<T = unknown, Answer = unknown, In = T, AnswerIn = Answer> extends Contract<T, In> {
  readonly kind = 'request';
  /** The schema of the answer; undefined without one. */
  readonly answerSchema: StandardSchema<AnswerIn, Answer> | undefined;
  /** @internal */
  readonly answer: Term | undefined;

  /** @internal */
  constructor(pattern: string, options: RequestOptions<In, T, AnswerIn, Answer>) {
    super(pattern, options, `request('${pattern}')`);
    this.answerSchema = options.answer;
    this.answer = termOf(options.answer, `the answer to '${pattern}'`, pattern, this.timeout);
  }
}

/**
 * A contract for an event, to be shared by those that publish it and those that handle it: `client.emit(orderCreated, order)` and
 * `@On(orderCreated)`.
 * @param pattern the routing key, without wildcards
 * @throws DlxConfigurationError naming the pattern or the option
 */
export function event<T = unknown, In = T>(pattern: string, options: EventOptions<In, T> = {}): EventContract<T, In> {
  checkContract('event', pattern, options, ['schema', 'timeout']);
  return new EventContract(pattern, options);
}

/**
 * A contract for a request and its answer: `client.send(orderPrice, order)` and `@Answer(orderPrice)`.
 * @param pattern the routing key, without wildcards
 * @throws DlxConfigurationError naming the pattern or the option
 */
export function request<T = unknown, Answer = unknown, In = T, AnswerIn = Answer>(
  pattern: string,
  options: RequestOptions<In, T, AnswerIn, Answer> = {},
): RequestContract<T, Answer, In, AnswerIn> {
  checkContract('request', pattern, options, ['schema', 'answer', 'timeout']);
  return new RequestContract(pattern, options);
}

function checkContract(kind: 'event' | 'request', pattern: unknown, options: object, known: readonly string[]): void {
  if (typeof pattern !== 'string') throw refused(pattern, `${kind}()`, 'is no text; write a routing key');
  const name = `${kind}('${pattern}')`;
  if (pattern === '' || !isShortstr(pattern)) {
    throw new DlxConfigurationError(`${name}: a routing key has 1 to ${maxShortstrBytes} bytes`);
  }
  if (pattern.split('.').some((word) => word === '*' || word === '#')) {
    const why = 'a contract is for one routing key, because every message that it fits has its payload';
    throw new DlxConfigurationError(`${name} has wildcards: ${why}; write a contract for each key`);
  }
  const given = optionsOf(options, `options of ${name}`, 'write { schema }', known);
  for (const option of ['schema', 'answer']) {
    if (given[option] !== undefined) checkSchema(given[option], `${option} of ${name}`);
  }
}

/** @throws DlxConfigurationError for a value that is no Standard Schema */
function checkSchema(value: unknown, origin: string): void {
  const standard = (value as { readonly '~standard'?: unknown } | null)?.['~standard'];
  if (standard === undefined || standard === null) {
    const why = "is no Standard Schema: it has no '~standard' (https://standardschema.dev)";
    throw refused(typeof value, origin, why);
  }
  checkMethods(standard, origin, 'Standard Schema', ['validate']);
  const { version } = standard as { readonly version?: unknown };
  if (version !== 1) throw refused(version, origin, 'is an unknown version of Standard Schema; there is version 1');
}

function termOf(schema: StandardSchema | undefined, what: string, pattern: string, timeout: number): Term | undefined {
  return schema && { schema, what, pattern, timeout };
}
