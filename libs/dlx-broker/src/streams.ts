/*
 * The entry point for streams of dead letters: operators for what `DeadLetters.from` and `DeadLetters.run` emit.
 * Helpers that operators share are in the index of the folder, and are internal.
 */

// Operators
export {
  archiveTo,
  groupByError,
  groupByQueue,
  groupByReason,
  parkWhen,
  redriveTo,
  retryWithBackoff,
  tapDeaths,
  throttleRedrive,
  where,
  whereDecoded,
  whereReason,
} from './nest/streams/index.js';

// Letters
export type { ConsumedLetter, DecodedLetter, Letter, RetriedLetter, XDeath } from './nest/streams/index.js';
export type { ErrorEntry } from './platform/history/index.js';
export type { DeathReason } from './engine/message/index.js';
export { NotedFailure } from './nest/retry/index.js';

// Redrives
export type { Edit, RedriveProgress, RedriveRequest, RedriveTask } from './nest/streams/index.js';

// Options
export type {
  ArchiveSink,
  Failed,
  FromOptions,
  GroupLetters,
  Otherwise,
  Pipeline,
  QueueNames,
  RedriveTarget,
  RunOptions,
  ThrottleOptions,
  WhereOptions,
} from './nest/streams/index.js';

// Errors
export {
  CallbackTimeoutError,
  ConsumerCancelledError,
  EditRefusedError,
  LetterSettledError,
  TooManyLeftError,
  UnknownQueueError,
} from './nest/streams/index.js';
export { UnknownOriginError, UnprovenOriginError } from './nest/retry/index.js';
