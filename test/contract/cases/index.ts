import type { Case } from '../contract.js';
import { deathCases } from './a-deaths.js';
import { timeToLiveCases } from './b-time-to-live.js';
import { lengthLimitCases } from './c-length-limits.js';
import { quorumQueueCases } from './d-quorum-queues.js';
import { delayedRetryCases } from './e-delayed-retry.js';
import { argumentCases } from './f-configuration.js';

/** All cases, in the order of the rules. */
export const cases: readonly { readonly section: string; readonly list: readonly Case[] }[] = [
  { section: 'A: when a message is dead-lettered', list: deathCases },
  { section: 'B: time to live', list: timeToLiveCases },
  { section: 'C: length limits', list: lengthLimitCases },
  { section: 'D: quorum queues', list: quorumQueueCases },
  { section: 'E: delayed retry', list: delayedRetryCases },
  { section: 'F: arguments', list: argumentCases },
];
