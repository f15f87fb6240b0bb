export { ConsumedLetter, type SettledLetter } from './consumed-letter.js';
export {
  DeadLetters,
  type DeadLettersOptions,
  type FromOptions,
  type Pipeline,
  type QueueNames,
  type RunOptions,
} from './dead-letters.js';
export { type Edit, EditRefusedError } from './edit.js';
export type { RedriveTarget } from './given.js';
export * from './letter-errors.js';
export { Letter, readDeaths, toXDeath, type XDeath } from './letter.js';
export {
  type DecodedLetter,
  groupByError,
  groupByQueue,
  groupByReason,
  type GroupLetters,
  type Otherwise,
  tapDeaths,
  where,
  whereDecoded,
  type WhereOptions,
  whereReason,
} from './passing.js';
export type { RedriveRequest } from './redrive-request.js';
export { guarded, type RedriveProgress, RedriveTask } from './redrive-task.js';
export { Redrives } from './redrives.js';
export type { Failed } from './run-forever.js';
export {
  archiveTo,
  type ArchiveSink,
  parkWhen,
  redriveTo,
  type RetriedLetter,
  retryWithBackoff,
  throttleRedrive,
  type ThrottleOptions,
} from './settling.js';
