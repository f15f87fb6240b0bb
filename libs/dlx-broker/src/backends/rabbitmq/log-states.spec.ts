import { expect, it } from 'vitest';
import { ManualClock } from '../../nest/testing/manual-clock.js';
import type { BackendState } from '../backend.js';
import { logStates } from './open.js';

const server = { product: 'RabbitMQ', version: '3.10.8' } as const;
const down = new Error('cannot connect to a:5672: connect ECONNREFUSED');
const reset = new Error('the connection to a:5672 ended: reset');
const isShort = 'the server is short of memory or disk';

function arrange() {
  const clock = new ManualClock();
  const lines: string[] = [];
  const events: string[] = [];
  let listener: (state: BackendState) => void = () => undefined;
  const follow = (heard: typeof listener): (() => void) => {
    listener = heard;
    return () => undefined;
  };
  logStates({ clock, onState: follow }, 20, (text, event, reason) => {
    lines.push(text);
    events.push(reason === undefined ? event : `${event}: ${reason}`);
  });
  return { clock, lines, events, enter: (state: BackendState) => listener(state) };
}

it('a start on a server that does not answer: one line for each reason, from the first failed attempt on', () => {
  const { lines, enter } = arrange();
  enter({ kind: 'connecting', attempt: 1 });
  expect(lines).toEqual([]);
  for (let attempt = 2; attempt <= 5; attempt++) enter({ kind: 'connecting', attempt, failure: down });
  enter({ kind: 'connecting', attempt: 6, failure: new Error('connection timed out') });
  enter({ kind: 'ready', server });
  expect(lines).toEqual([
    "not connected, attempt 2 of 20 ('startAttempts' of rabbitmq()): cannot connect to a:5672: connect ECONNREFUSED",
    "not connected, attempt 6 of 20 ('startAttempts' of rabbitmq()): connection timed out",
    'connected to RabbitMQ 3.10.8',
  ]);
});

it('a start that succeeds at once, and a close, say nothing', () => {
  const { lines, enter } = arrange();
  enter({ kind: 'connecting', attempt: 1 });
  enter({ kind: 'ready', server });
  enter({ kind: 'closed' });
  expect(lines).toEqual([]);
});

it('a lost connection: when, why, and how long until there was another one', () => {
  const { clock, lines, enter } = arrange();
  enter({ kind: 'ready', server });
  for (let round = 0; round < 2; round++) {
    enter({ kind: 'reconnecting', attempt: 1, failure: reset });
    enter({ kind: 'reconnecting', attempt: 1, failure: reset });
    clock.advance(1_000);
    for (let attempt = 2; attempt <= 5; attempt++) enter({ kind: 'reconnecting', attempt, failure: down });
    clock.advance(2_200);
    enter({ kind: 'ready', server });
  }
  const once = [
    'the connection was lost, and the client reconnects: the connection to a:5672 ended: reset',
    'not connected for 1.0 s: cannot connect to a:5672: connect ECONNREFUSED',
    'connected again after 3.2 s to RabbitMQ 3.10.8',
  ];
  expect(lines).toEqual([...once, ...once]);
});

it('an alarm of the server: its begin and its end, also when the connection is made again during it', () => {
  const { lines, enter } = arrange();
  enter({ kind: 'ready', server });
  enter({ kind: 'blocked', server, reason: isShort });
  enter({ kind: 'reconnecting', attempt: 1, failure: reset });
  enter({ kind: 'blocked', server, reason: isShort });
  enter({ kind: 'ready', server });
  expect(lines).toEqual([
    'publishes wait: the server is short of memory or disk',
    'the connection was lost, and the client reconnects: the connection to a:5672 ended: reset',
    'connected again after 0.0 s to RabbitMQ 3.10.8',
    'publishes wait: the server is short of memory or disk',
    'publishes go on',
  ]);
});

it('each line has an event, and the reason that another program gave', () => {
  const { events, enter } = arrange();
  enter({ kind: 'connecting', attempt: 2, failure: down });
  enter({ kind: 'ready', server });
  enter({ kind: 'reconnecting', attempt: 1, failure: reset });
  enter({ kind: 'reconnecting', attempt: 2, failure: down });
  enter({ kind: 'blocked', server, reason: isShort });
  enter({ kind: 'ready', server });
  expect(events).toEqual([
    `notConnected: ${down.message}`,
    'connected',
    `connectionLost: ${reset.message}`,
    `connectionLost: ${down.message}`,
    'connected',
    `blocked: ${isShort}`,
    'unblocked',
  ]);
});
