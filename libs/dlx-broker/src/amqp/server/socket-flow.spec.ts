import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { BufferPool } from '../wire/index.js';
import { Flusher, type ListenerContext } from './listener-context.js';
import { SocketFlow } from './socket-flow.js';

it('deliveries that stop for reserved bytes go on after the turn, although nothing was written', () => {
  const turns: (() => void)[] = [];
  const context = {
    pool: new BufferPool(),
    flusher: new Flusher((act) => turns.push(act)),
    limits: { unread: 1_000 },
    now: () => 0,
  } as unknown as ListenerContext;
  const emitter = Object.assign(new EventEmitter(), { writableLength: 0, writableNeedDrain: false });
  const socket = emitter as unknown as Socket;
  const calls: string[] = [];
  const flow = new SocketFlow(socket, socket, context, {
    overfull: () => calls.push('overfull'),
    flooded: () => calls.push('flooded'),
    relieved: () => calls.push('relieved'),
    rested: () => calls.push('rested'),
  });
  expect([flow.reserve(600), flow.reserve(600)]).toEqual([true, false]);
  expect(calls).toEqual(['overfull']);
  for (const turn of turns.splice(0)) turn();
  expect(calls).toEqual(['overfull', 'relieved']);
  expect(flow.reserve(600)).toBe(true);
});
