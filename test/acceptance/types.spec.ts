import { map, mergeMap, type Observable, type Subscription } from 'rxjs';
import {
  Consume,
  DeadLetters,
  DlxBroker,
  DlxContext,
  DlxServer,
  Idempotent,
  Park,
  Redrives,
  Retry,
  RetryLater,
  Ttl,
  type IdempotencyStore,
  type OutcomeEvent,
  type QueueOption,
  type RetryPolicy,
  type Topology,
  type TopologyOption,
  type UndecodablePayloadError,
} from 'dlx-broker';
import {
  redriveTo,
  retryWithBackoff,
  throttleRedrive,
  where,
  groupByError,
  groupByQueue,
  groupByReason,
  parkWhen,
  tapDeaths,
  whereDecoded,
  whereReason,
  type ConsumedLetter,
  type DecodedLetter,
  type Letter,
  type Pipeline,
  type RedriveProgress,
  type RedriveRequest,
  type RedriveTask,
  type RetriedLetter,
} from 'dlx-broker/streams';
import { DlxTesting } from 'dlx-broker/testing';
import { expectTypeOf, it } from 'vitest';

interface Payment {
  readonly id: string;
}

// What is wrong here fails the type check, which runs over the tests as well.

it('a policy takes every way to wait, and no other', () => {
  expectTypeOf<{ attempts: 3 }>().toExtend<RetryPolicy>();
  expectTypeOf<{ attempts: 3; backoff: '5s' }>().toExtend<RetryPolicy>();
  expectTypeOf<{ attempts: 3; backoff: readonly ['1s', 5_000] }>().toExtend<RetryPolicy>();
  expectTypeOf<{ attempts: 3; backoff: (attempt: number) => string }>().toExtend<RetryPolicy>();
  expectTypeOf<{ attempts: 3; backoff: { type: 'linear'; delay: '1s'; jitter: 'full' } }>().toExtend<RetryPolicy>();
  expectTypeOf<{ attempts: 3; neverRetry: typeof TypeError }>().toExtend<RetryPolicy>();
  expectTypeOf<{ attempts: 3; retryOn: [typeof TypeError, (error: unknown) => boolean] }>().toExtend<RetryPolicy>();
  expectTypeOf<{ backoff: '5s' }>().not.toExtend<RetryPolicy>();
  expectTypeOf<{ attempts: 3; backoff: { type: 'cubic'; delay: 1 } }>().not.toExtend<RetryPolicy>();
  expectTypeOf<{ attempts: 3; backoff: { type: 'fixed'; delay: 1; jitter: 'some' } }>().not.toExtend<RetryPolicy>();
});

it('decorators are for methods', () => {
  expectTypeOf(Retry).returns.toEqualTypeOf<MethodDecorator>();
  expectTypeOf(Consume).returns.toEqualTypeOf<MethodDecorator>();
  expectTypeOf(Ttl).returns.toEqualTypeOf<MethodDecorator>();
  expectTypeOf(Idempotent<Payment>).returns.toEqualTypeOf<MethodDecorator>();
  expectTypeOf(Retry).parameter(0).toEqualTypeOf<RetryPolicy | false>();
});

it('a server can be listened to, as Nest has it', () => {
  const listen = (server: DlxServer): void => server.on('error', (error: Error) => void error);
  expectTypeOf(listen).parameter(0).toEqualTypeOf<DlxServer>();
  expectTypeOf<DlxContext['routingKey']>().toEqualTypeOf<string>();
  expectTypeOf<DlxContext['exchange']>().toEqualTypeOf<string>();
});

it('topology takes words, and no nonsense', () => {
  expectTypeOf<{ queues: ['a', { name: 'b'; ttl: '30s' }] }>().toExtend<TopologyOption>();
  expectTypeOf<{ queues: [{ name: 'b'; deadLetter: ['dlx', 'key'] }] }>().toExtend<TopologyOption>();
  expectTypeOf<Partial<Topology>>().toExtend<TopologyOption>();
  expectTypeOf<{ queues: [{ ttl: '30s' }] }>().not.toExtend<TopologyOption>();
  expectTypeOf<{ name: 'b'; maxLength: '5' }>().not.toExtend<QueueOption>();
  expectTypeOf<{ name: 'b'; deadLetter: ['dlx', 'key', 'more'] }>().not.toExtend<QueueOption>();
  expectTypeOf<{ name: 'b'; overflow: 'drop' }>().not.toExtend<QueueOption>();
});

it('outcomes are errors', () => {
  expectTypeOf<RetryLater>().toExtend<Error>();
  expectTypeOf<Park>().toExtend<Error>();
  expectTypeOf(RetryLater).constructorParameters.toEqualTypeOf<
    [delay: number | string, more?: string | { readonly reason?: string; readonly state?: unknown }]
  >();
  expectTypeOf(Park).constructorParameters.toEqualTypeOf<
    [reason: string, options?: { readonly headers?: Readonly<Record<string, unknown>> }]
  >();
});

it('a stream keeps the type of its payloads', () => {
  const letters = expectTypeOf<DeadLetters>();
  letters.toHaveProperty('from');
  expectTypeOf<ReturnType<typeof fromPayments>>().toEqualTypeOf<Observable<ConsumedLetter<Payment>>>();
  expectTypeOf<ReturnType<typeof replayPayments>>().toEqualTypeOf<Observable<Letter<Payment>>>();
  expectTypeOf<ReturnType<typeof runPayments>>().toEqualTypeOf<Subscription>();
  expectTypeOf(where<ConsumedLetter<Payment>>)
    .parameter(0)
    .parameter(0)
    .toEqualTypeOf<ConsumedLetter<Payment>>();
  expectTypeOf(redriveTo<ConsumedLetter<Payment>>)
    .returns.parameter(0)
    .toEqualTypeOf<Observable<ConsumedLetter<Payment>>>();
  expectTypeOf(throttleRedrive<DecodedLetter<Payment>>).returns.returns.toEqualTypeOf<
    Observable<DecodedLetter<Payment>>
  >();
  expectTypeOf(retryWithBackoff<DecodedLetter<Payment>>).returns.returns.toEqualTypeOf<
    Observable<RetriedLetter<DecodedLetter<Payment>>>
  >();
  expectTypeOf<RetriedLetter<DecodedLetter<Payment>>['letter']>().toEqualTypeOf<DecodedLetter<Payment>>();
});

it('payloads of decoded letters are known, after any other operator as well', () => {
  expectTypeOf<DecodedLetter<Payment>['payload']>().toEqualTypeOf<Payment>();
  expectTypeOf<ConsumedLetter<Payment>['payload']>().toEqualTypeOf<Payment | UndecodablePayloadError>();
  expectTypeOf<DecodedLetter<Payment>>().toExtend<ConsumedLetter<Payment>>();
  const ids = (letters: DeadLetters) =>
    letters.from<Payment>('a').pipe(
      whereDecoded({ otherwise: (letter) => letter.park() }),
      whereReason('rejected', { otherwise: 'ack' }),
      where((letter) => letter.payload.id !== ''),
      tapDeaths((_, letter) => letter.payload.id),
      parkWhen((letter) => letter.payload.id === '1'),
      redriveTo((letter) => letter.payload.id),
      throttleRedrive({ perSecond: 5 }),
      retryWithBackoff({ attempts: 3 }),
      map(({ letter }) => letter.payload.id),
    );
  const groups = (letters: DeadLetters) =>
    letters.from<Payment>('a').pipe(
      whereDecoded(),
      groupByQueue(),
      mergeMap((group) => group.pipe(groupByReason())),
      mergeMap((group) => group.pipe(groupByError())),
      mergeMap((group) => group.pipe(map((letter) => letter.payload.id))),
    );
  const own = (letters: DeadLetters) =>
    letters.from<Payment>('a').pipe(
      where((letter): letter is DecodedLetter<Payment> => letter.redrives === 0),
      map((letter) => letter.payload.id),
    );
  const run = (letters: DeadLetters) =>
    letters.run<Payment>('a', (all) =>
      all.pipe(
        whereDecoded(),
        redriveTo(({ payload }) => payload.id),
      ),
    );
  expectTypeOf(ids).returns.toEqualTypeOf<Observable<string>>();
  expectTypeOf(groups).returns.toEqualTypeOf<Observable<string>>();
  expectTypeOf(own).returns.toEqualTypeOf<Observable<string>>();
  expectTypeOf(run).returns.toEqualTypeOf<Subscription>();
});

it('headers are read in one way, in handlers and on letters', () => {
  expectTypeOf<Letter['headers']>().toEqualTypeOf<DlxContext['headers']>();
  expectTypeOf<Letter['message']>().toEqualTypeOf<DlxContext['message']>();
});

const fromPayments = (letters: DeadLetters) => letters.from<Payment>(['a', 'b']);
const replayPayments = (letters: DeadLetters) => letters.replay<Payment>('a');
const runPayments = (letters: DeadLetters) => letters.run<Payment>(/a/, (all) => all);

it('a pipeline returns the observable itself', () => {
  expectTypeOf<(letters: Observable<unknown>) => Observable<unknown>>().toExtend<Pipeline<Payment>>();
  expectTypeOf<(letters: Observable<unknown>) => Promise<Observable<unknown>>>().not.toExtend<Pipeline<Payment>>();
});

it('a redrive tells how far it has come', () => {
  expectTypeOf<Redrives['start']>().returns.toEqualTypeOf<RedriveTask>();
  expectTypeOf<RedriveTask['progress']>().toEqualTypeOf<Observable<RedriveProgress>>();
  expectTypeOf<RedriveTask['ended']>().toEqualTypeOf<Promise<RedriveProgress>>();
  expectTypeOf<{ from: 'q'; where: (letter: Letter<Payment>) => boolean }>().toExtend<RedriveRequest<Payment>>();
  expectTypeOf<{ to: 'q' }>().not.toExtend<RedriveRequest>();
});

it('a handler knows its attempts, and an application what happens', () => {
  expectTypeOf<DlxContext['attempt']>().toBeNumber();
  expectTypeOf<DlxContext['attempts']>().toEqualTypeOf<number | undefined>();
  expectTypeOf<DlxContext['signal']>().toEqualTypeOf<AbortSignal>();
  expectTypeOf<DlxBroker['events']>().toEqualTypeOf<Observable<OutcomeEvent>>();
  expectTypeOf<OutcomeEvent['kind']>().toEqualTypeOf<
    | 'delivered'
    | 'acked'
    | 'rejected'
    | 'retried'
    | 'parked'
    | 'held'
    | 'dropped'
    | 'redriven'
    | 'expired'
    | 'opened'
    | 'probing'
    | 'closed'
    | 'paused'
    | 'resumed'
    | 'stalled'
    | 'recovered'
  >();
});

it('a store may answer at once or later', () => {
  expectTypeOf<{
    claim(key: string, lease: number): 'claimed';
    done(key: string, ttl: number): void;
    release(key: string): Promise<void>;
  }>().toExtend<IdempotencyStore>();
  expectTypeOf<{ claim(key: string): string }>().not.toExtend<IdempotencyStore>();
});

it('the testing kit is created in one step', () => {
  expectTypeOf(DlxTesting.create).returns.toEqualTypeOf<Promise<DlxTesting>>();
  expectTypeOf<DlxTesting['deadLetters']>().returns.toEqualTypeOf<readonly Letter<unknown>[]>();
});
