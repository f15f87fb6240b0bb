import { expect, it } from 'vitest';
import { read } from './pages.js';

const yes = 'yes';
const packet = 'they get the packet';
const none = 'no: it has no pattern';

const toHandlers = 'packets to a queue without the option: the handler gets the packet';
const toPackets = 'packets to a queue with envelope nest, and bodies without a packet';
const toServerRmq = 'DlxClient with envelope nest to ServerRMQ';
const refused = 'a body without a packet to ServerRMQ: the message is refused';
const toGolevelup = 'gets events and requests, and the packet if there is one';
const fromClientRmq = 'ClientRMQ to a queue with envelope nest';
const warned = 'ClientRMQ to a queue without the option: the handler gets the packet, and one warning says so';
const fromGolevelup = 'publishes to handlers, with or without envelope nest';
const themselves = 'both other packages talk to themselves';

/** Each cell of the page by its row: what it says, and the case that shows it. */
const rows: Readonly<Record<string, readonly (readonly [says: string, by: string])[]>> = {
  '`DlxClient`': [
    [yes, toHandlers],
    [yes, toPackets],
    [none, refused],
    [yes, toGolevelup],
  ],
  "`DlxClient` with `envelope: 'nest'`": [
    [`${packet} as data`, toHandlers],
    [yes, toPackets],
    [yes, toServerRmq],
    [packet, toGolevelup],
  ],
  "Nest's `ClientRMQ`": [
    [`${packet} as data`, warned],
    [yes, fromClientRmq],
    [yes, themselves],
    [packet, toGolevelup],
  ],
  "golevelup's `AmqpConnection`": [
    [yes, fromGolevelup],
    [yes, fromGolevelup],
    [none, refused],
    [yes, themselves],
  ],
};

it('docs/guide/from-nest-rabbitmq.md says of each pair what a case with the real packages shows', () => {
  const page = read('docs/guide/from-nest-rabbitmq.md');
  const [, table = ''] = /## Who can talk to whom\n\n([^]*?)\n\n/.exec(page) ?? [];
  const found = table.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const written = Object.entries(rows).map(([from, cells]) => [from, ...cells.map(([says]) => says)]);
  expect(found.slice(2)).toEqual(written);
  const cases = read('test/backends/interoperation.spec.ts');
  for (const [, by] of Object.values(rows).flat()) expect(cases).toContain(`'${by}', `);
});
