import type { Case } from '../contract.js';
import { deathCases } from './a-deaths.js';
import { timeToLiveCases } from './b-time-to-live.js';
import { lengthLimitCases } from './c-length-limits.js';
import { quorumQueueCases } from './d-quorum-queues.js';
import { delayedRetryCases } from './e-delayed-retry.js';
import { argumentCases } from './f-arguments.js';
import { equivalenceCases } from './f-equivalence.js';
import { policyCases } from './f-policies.js';
import { routingCases } from './g-routing.js';
import { messageCases } from './h-message.js';
import { cycleCases } from './i-cycles.js';
import { orderCases } from './j-order.js';
import { confirmCases } from './k-confirms.js';

/** All cases, in the order of the rules. */
export const cases: readonly { readonly section: string; readonly list: readonly Case[] }[] = [
  { section: 'A: when a message is dead-lettered', list: deathCases },
  { section: 'B: time to live', list: timeToLiveCases },
  { section: 'C: length limits', list: lengthLimitCases },
  { section: 'D: quorum queues', list: quorumQueueCases },
  { section: 'E: delayed retry', list: delayedRetryCases },
  { section: 'F: arguments', list: argumentCases },
  { section: 'F: declaring again', list: equivalenceCases },
  { section: 'F: policies', list: policyCases },
  { section: 'G: where a dead letter goes', list: routingCases },
  { section: 'H: what changes in the message', list: messageCases },
  { section: 'I: cycles', list: cycleCases },
  { section: 'J: order, requeueing, prefetch', list: orderCases },
  { section: 'K: confirms, returns, transactions', list: confirmCases },
];
