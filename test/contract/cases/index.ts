import type { Case } from '../contract.js';
import { deathCases } from './a-deaths.js';
import { timeToLiveCases } from './b-time-to-live.js';
import { lengthLimitCases } from './c-length-limits.js';
import { quorumLimitCases } from './d-limits.js';
import { quorumQueueCases } from './d-quorum-queues.js';
import { returnCases } from './d-returns.js';
import { delayedRetryCases } from './e-delayed-retry.js';
import { argumentCases } from './f-arguments.js';
import { equivalenceCases } from './f-equivalence.js';
import { policyCases } from './f-policies.js';
import { fuzzFoundCases } from './fuzz-found.js';
import { routingCases } from './g-routing.js';
import { historyCases } from './h-history.js';
import { messageCases } from './h-message.js';
import { cycleCases } from './i-cycles.js';
import { orderCases } from './j-order.js';
import { prioritySettlementCases } from './j-priorities.js';
import { settlementCases } from './j-settlements.js';
import { confirmCases } from './k-confirms.js';
import { transactionCases } from './k-transactions.js';
import { atLeastOnceCases } from './m-at-least-once.js';
import { permissionCases } from './n-permissions.js';
import { userLimitCases } from './n-user-limits.js';
import { nameCases } from './o-names.js';
import { queueCases } from './o-queues.js';
import { exchangeCases } from './p-exchanges.js';
import { matchingCases } from './p-matching.js';
import { consumerCases } from './q-consumers.js';
import { prefetchCases } from './q-prefetch.js';
import { timeoutCases } from './q-timeouts.js';
import { specialQueueCases } from './r-special-queues.js';
import { directReplyToCases } from './s-direct-reply-to.js';
import { wireCases } from './t-wire.js';
import { laterQuorumCases } from './w-quorum-queues.js';

/** All cases, in the order of the rules. */
export const cases: readonly { readonly section: string; readonly list: readonly Case[] }[] = [
  { section: 'A: when a message is dead-lettered', list: deathCases },
  { section: 'B: time to live', list: timeToLiveCases },
  { section: 'C: length limits', list: lengthLimitCases },
  { section: 'D: quorum queues', list: quorumQueueCases },
  { section: 'D: limits of quorum queues', list: quorumLimitCases },
  { section: 'D: returns to quorum queues', list: returnCases },
  { section: 'E: delayed retry', list: delayedRetryCases },
  { section: 'F: arguments', list: argumentCases },
  { section: 'F: declaring again', list: equivalenceCases },
  { section: 'F: policies', list: policyCases },
  { section: 'G: where a dead letter goes', list: routingCases },
  { section: 'H: what changes in the message', list: messageCases },
  { section: 'H: the history of deaths', list: historyCases },
  { section: 'I: cycles', list: cycleCases },
  { section: 'J: order, requeueing, prefetch', list: orderCases },
  { section: 'J: settlements of several consumers', list: settlementCases },
  { section: 'J: settlements where there are priorities', list: prioritySettlementCases },
  { section: 'K: confirms, returns, transactions', list: confirmCases },
  { section: 'K: what a transaction does when', list: transactionCases },
  { section: 'M: at least once', list: atLeastOnceCases },
  { section: 'N: permissions', list: permissionCases },
  { section: 'N: limits of users', list: userLimitCases },
  { section: 'O: queues', list: queueCases },
  { section: 'O: names', list: nameCases },
  { section: 'P: exchanges and bindings', list: exchangeCases },
  { section: 'P: topics and headers', list: matchingCases },
  { section: 'Q: consumers', list: consumerCases },
  { section: 'Q: limits of a channel', list: prefetchCases },
  { section: 'Q: consumer timeouts', list: timeoutCases },
  { section: 'R: priorities, single active consumer', list: specialQueueCases },
  { section: 'S: direct reply-to', list: directReplyToCases },
  { section: 'T: the wire', list: wireCases },
  { section: 'W: quorum queues since RabbitMQ 4', list: laterQuorumCases },
  { section: 'found by random programs', list: fuzzFoundCases },
];
