import {
  Scope,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  type ExceptionFilter,
  type NestInterceptor,
  type PipeTransform,
} from '@nestjs/common';
import { RpcException } from '@nestjs/microservices';
import { DlxContext, Drop, Idempotent, Park, Reject, RetryLater, type RetryPolicy } from 'dlx-broker';
import { NEVER, of, throwError } from 'rxjs';

export type Place = 'gone' | 'parked' | 'dead';
export const attempts = 3;

/** A way to retry. `dead` has a dead-letter exchange of its own; `circle` one that leads back to the work queue. */
export interface Style {
  readonly policy: Partial<RetryPolicy>;
  readonly own?: 'dead' | 'circle';
}

/** @param second milliseconds: a second in virtual time, less in real time */
export const styles = (second: number): Readonly<Record<string, Style>> => ({
  'by reject': { policy: { backoff: second } },
  'by republishing': { policy: { backoff: [second, 2 * second] } },
  'at once': { policy: { immediate: 2 } },
  'as a function says': { policy: { backoff: (attempt) => attempt * second } },
  'with jitter': { policy: { backoff: { type: 'exponential', delay: second, jitter: 'full' } } },
  'with a deadline': { policy: { backoff: second, deadline: '1h' } },
  'beside @DeadLetter': { policy: { backoff: second }, own: 'dead' },
  'beside @DeadLetter in a circle': { policy: { backoff: second }, own: 'circle' },
});

export interface Case {
  readonly work: (context: DlxContext) => unknown;
  /** Where it ends; without a word: parked after all attempts. */
  readonly ends?: Place;
  /** Rejected for good: to the dead-letter exchange of the queue where it has one. */
  readonly rejects?: true;
  /** How often the handler runs. Default: as often as it may. */
  readonly runs?: number;
  readonly above?: readonly (MethodDecorator & ClassDecorator)[] | readonly MethodDecorator[];
  readonly policy?: Partial<RetryPolicy>;
  readonly body?: Buffer;
  readonly scope?: Scope;
}

export const fails = (): never => {
  throw new Error('down');
};
const works = (): void => undefined;
const guard = (say: () => boolean) => UseGuards({ canActivate: say });
const pipe: PipeTransform = { transform: fails };
const interceptor: NestInterceptor = { intercept: fails };
const filter = (answer: (error: unknown) => unknown): ExceptionFilter => ({
  catch: answer as ExceptionFilter['catch'],
});
const broken = { claim: fails, done: works, release: works };
const answers = (what: unknown) => () => what as never;
/** As an async function does that fails. */
const isLate = () => Promise.reject(new Error('late')) as never;

/** @param second see {@link styles} */
export const cases = (second: number): Readonly<Record<string, Case>> => ({
  'an error': { work: fails },
  'a rejected promise': { work: () => Promise.reject(new Error('down')) },
  'a stream that fails': { work: () => throwError(() => new Error('down')) },
  'undefined, thrown': {
    work: () => {
      throw undefined;
    },
  },
  'an RpcException': {
    work: () => {
      throw new RpcException('no');
    },
  },
  'RetryLater(0)': {
    work: () => {
      throw new RetryLater(0);
    },
  },
  'RetryLater(5s)': {
    work: () => {
      throw new RetryLater(5 * second);
    },
  },
  Park: {
    work: () => {
      throw new Park('no');
    },
    runs: 1,
  },
  Reject: {
    work: () => {
      throw new Reject('no');
    },
    runs: 1,
    rejects: true,
  },
  Drop: {
    work: () => {
      throw new Drop();
    },
    runs: 1,
    ends: 'gone',
  },
  success: { work: works, runs: 1, ends: 'gone' },
  'ack()': { work: (context) => context.ack(), runs: 1, ends: 'gone' },
  'ack(), then an error': {
    work: (context) => {
      context.ack();
      fails();
    },
    runs: 1,
    ends: 'gone',
  },
  'ack(), then reject() and requeue()': {
    work: (context) => {
      context.ack();
      context.reject();
      context.requeue();
    },
    runs: 1,
    ends: 'gone',
  },
  'reject()': { work: (context) => context.reject(), runs: 1, rejects: true },
  'reject(), then ack() and an error': {
    work: (context) => {
      context.reject();
      context.ack();
      fails();
    },
    runs: 1,
    rejects: true,
  },
  'requeue()': { work: (context) => context.requeue() },
  'requeue(), then an error': {
    work: (context) => {
      context.requeue();
      fails();
    },
  },
  'a timeout': { work: () => NEVER, policy: { timeout: second } },
  'a guard that denies': { work: works, above: [guard(() => false)], runs: 0 },
  'a guard that throws': { work: works, above: [guard(fails)], runs: 0 },
  'a pipe that throws': { work: works, above: [UsePipes(pipe)], runs: 0 },
  'an interceptor that throws': { work: works, above: [UseInterceptors(interceptor)], runs: 0 },
  'a filter that throws': { work: fails, above: [UseFilters(filter(fails))] },
  'a filter that rethrows': { work: fails, above: [UseFilters(filter((error) => throwError(() => error)))] },
  'a filter that handles': { work: fails, above: [UseFilters(filter(() => of('handled')))], runs: 1, ends: 'gone' },
  'a class that cannot be made': { work: works, scope: Scope.REQUEST, runs: 0 },
  'a body that is no JSON': { work: works, body: Buffer.from('{'), runs: 0, rejects: true },
  'retryOn that throws': { work: fails, policy: { retryOn: () => fails() }, runs: 1 },
  'retryOn that is async': { work: fails, policy: { retryOn: isLate }, runs: 1 },
  'retryOn that answers a text': { work: fails, policy: { retryOn: answers('yes') }, runs: 1 },
  'neverRetry that throws': { work: fails, policy: { neverRetry: [() => fails()] }, runs: 1 },
  'backoff that throws': { work: fails, policy: { backoff: () => fails() }, runs: 1 },
  'backoff that answers NaN': { work: fails, policy: { backoff: () => Number.NaN }, runs: 1 },
  'backoff that answers Infinity': { work: fails, policy: { backoff: () => Infinity }, runs: 1 },
  'backoff that answers -1': { work: fails, policy: { backoff: () => -1 }, runs: 1 },
  'backoff that answers a text': { work: fails, policy: { backoff: () => 'soon' }, runs: 1 },
  'backoff that answers undefined': { work: fails, policy: { backoff: answers(undefined) }, runs: 1 },
  'backoff that is async': { work: fails, policy: { backoff: isLate }, runs: 1 },
  'an idempotency store that throws': { work: works, above: [Idempotent({ store: broken })], runs: 0 },
  'an idempotency key that throws': { work: works, above: [Idempotent({ key: fails })], runs: 0 },
  'an idempotency key that is async': { work: works, above: [Idempotent({ key: isLate })], runs: 0 },
});

/** Whether a case ends as it does with few attempts: where all retries are immediate, the backoff is never asked. */
export const isAsked = ({ policy }: Style, given: Case): boolean =>
  policy.immediate === undefined || given.policy?.backoff === undefined;
