/** What a case showed on a broker although the rules say otherwise. */
export interface ExpectedDifference {
  /** The case. */
  readonly name: string;
  /** The rule of the list of known bugs. */
  readonly rule: string;
  readonly observed: unknown;
}

/** What a real broker does otherwise than the rules say, by driver: its known bugs, which the engine does not copy. */
export const expectedDifferences: Readonly<Record<string, readonly ExpectedDifference[]>> = {
  rabbitmq: [
    {
      name: 'rule H7: with three pairs the newest death is first',
      rule: 'rule V2',
      observed: ['c/expired 1', 'a/expired 1', 'b/expired 1'],
    },
    {
      name: 'rule I5: a rejection older than the automatic cycle does not save the message',
      rule: 'rule V2',
      observed: 'more rounds',
    },
    {
      name: 'rule V2: a ladder of two wait queues brings a message back in every round',
      rule: 'rule V2',
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
  ],
};
