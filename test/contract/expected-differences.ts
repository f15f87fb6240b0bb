import type { ProfileName } from '../../libs/dlx-broker/src/engine/broker/index.js';
import { death, soft } from './contract.js';

/** What a case showed on a broker although the rules say otherwise. */
export interface ExpectedDifference {
  /** The case. */
  readonly name: string;
  /** The rule of the list of known bugs. */
  readonly rule: string;
  /** The version that shows it; both if it is missing. */
  readonly only?: ProfileName;
  readonly observed: unknown;
}

const queueIsGone = {
  code: 506,
  text: 'RESOURCE_ERROR - failed to deliver message: {not_found,\n                               {resource,<<"V">>,\n                                   queue,<<"q">>}}',
  at: '90.20',
  closes: 'connection',
};

/** What RabbitMQ does otherwise than the rules say: its known bugs, which the engine does not copy. */
const differences: readonly ExpectedDifference[] = [
  {
    name: 'rule H7: with three pairs the newest death is first',
    rule: 'rule V2',
    only: '3.10',
    observed: ['c/expired 1', 'a/expired 1', 'b/expired 1'],
  },
  {
    name: 'rule I5: a rejection older than the automatic cycle does not save the message',
    rule: 'rule V2',
    only: '3.10',
    observed: 'more rounds',
  },
  {
    name: 'rule V2: a ladder of two wait queues brings a message back in every round',
    rule: 'rule V2',
    only: '3.10',
    observed: ['m', 'm', 'lost', 'lost'],
  },
  {
    name: 'rule B7: a higher priority with TTL that arrives above live lower ones expires in time',
    rule: 'rule V1',
    observed: [],
  },
  {
    name: 'rule V8: a message that dies of the delivery limit makes room for one',
    rule: 'rule V8',
    only: '3.10',
    observed: ['m0', 'm1', 'm2'],
  },
  {
    name: 'rule V10: drop-head by policy ends the refusal',
    rule: 'rule V10',
    observed: ['ack', 'ack', 'nack', 'nack'],
  },
  {
    name: 'rule V11: a queue that refuses does so to a channel that comes later, too',
    rule: 'rule V11',
    observed: ['ack', 'ack', 'nack', 'ack'],
  },
  {
    name: 'rule V9: basic.get fetches beside a consumer whose tag is the delivery tag',
    rule: 'rule V9',
    observed: [['a'], undefined],
  },
  {
    name: 'rule V9: a consumer whose tag is the delivery tag of a fetched message has its whole prefetch',
    rule: 'rule V9',
    observed: [],
  },
  ...['a return', 'a recover'].map((what): ExpectedDifference => ({
    name: `rule Q8: ${what} that comes too late changes nothing in the queue since 4, and the consumer is served again`,
    rule: 'rule V13',
    only: '4',
    observed: [['a'], ['a'], [2, 1]],
  })),
  {
    name: 'rule J1: dead letters of a quorum queue come in order, of reason maxlen',
    rule: 'rule V15',
    only: '3.10',
    observed: ['xx', 'm2', 'm1'],
  },
  {
    name: 'rule Q13: a cancelled tag is used again while its deliveries are open, and one ack settles those of both',
    rule: 'rule V16',
    only: '3.10',
    observed: [
      { code: 541, text: 'INTERNAL_ERROR', at: '0.0', closes: 'connection' },
      { first: ['m1'], second: ['none'], left: [-1] },
    ],
  },
  {
    name: 'rule H5: the key of a death is there also where a BCC had its name',
    rule: 'rule V14',
    only: '4',
    observed: [
      'A',
      [
        death({ queue: 'dead', reason: 'rejected', keys: [] }),
        death({ queue: 'work', reason: 'rejected', exchange: 'in', keys: ['k'] }),
      ],
    ],
  },
  {
    name: 'rule K10: a queue deleted before the commit gets nothing, and the message is returned then',
    rule: 'rule V12',
    only: '4',
    observed: { returned: [], queues: [], failure: queueIsGone },
  },
  {
    name: 'rule K10: of two queues the one that is left gets it',
    rule: 'rule V12',
    only: '4',
    observed: { returned: [], queues: [[]], failure: queueIsGone },
  },
  {
    name: 'rule K10: a queue declared again under its name gets it without a binding',
    rule: 'rule V12',
    only: '4',
    observed: { returned: [], queues: [[]], failure: soft(406, '90.20', 'partial tx completion') },
  },
  ...['HTTP', 'GET / HTTP/1.1\r\n\r\n'].map((text): ExpectedDifference => ({
    name: `rule T1: ${JSON.stringify(text)} is answered with the right protocol header`,
    rule: 'rule T1',
    only: '4',
    observed: [0x41, 0x4d, 0x51, 0x50, 3, 1, 0, 0], // AMQP 1.0, which this broker does not speak
  })),
];

/** The difference that is expected of the RabbitMQ of a version. */
export const expectedDifference = (profile: ProfileName, name: string): ExpectedDifference | undefined =>
  differences.find((each) => each.name === name && (each.only ?? profile) === profile);
