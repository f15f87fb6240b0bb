import type { FieldTable } from '../../../libs/dlx-broker/src/engine/message/index.js';
import { Reader, Writer } from './bytes.js';
import { readTable, writeTable } from './field-table.js';

/** An argument of a method on the wire. */
export type Argument = boolean | number | string | Uint8Array | FieldTable;
export type Arguments = Readonly<Record<string, Argument>>;

export interface Method {
  readonly name: string;
  readonly classId: number;
  readonly methodId: number;
  readonly args: Arguments;
}

type Kind = 'bit' | 'octet' | 'short' | 'long' | 'longlong' | 'shortstr' | 'longstr' | 'table';

/** The methods these tests speak: numbers, then the arguments as `name:kind`. */
const table: Readonly<Record<string, readonly [classId: number, methodId: number, args: string]>> = {
  'connection.start': [10, 10, 'major:octet minor:octet properties:table mechanisms:longstr locales:longstr'],
  'connection.start-ok': [10, 11, 'properties:table mechanism:shortstr response:longstr locale:shortstr'],
  'connection.tune': [10, 30, 'channelMax:short frameMax:long heartbeat:short'],
  'connection.tune-ok': [10, 31, 'channelMax:short frameMax:long heartbeat:short'],
  'connection.open': [10, 40, 'vhost:shortstr reserved1:shortstr reserved2:bit'],
  'connection.open-ok': [10, 41, 'reserved1:shortstr'],
  'connection.close': [10, 50, 'code:short text:shortstr classId:short methodId:short'],
  'connection.close-ok': [10, 51, ''],
  'connection.blocked': [10, 60, 'reason:shortstr'],
  'connection.unblocked': [10, 61, ''],
  'channel.open': [20, 10, 'reserved1:shortstr'],
  'channel.open-ok': [20, 11, 'reserved1:longstr'],
  'channel.close': [20, 40, 'code:short text:shortstr classId:short methodId:short'],
  'channel.close-ok': [20, 41, ''],
  'channel.flow': [20, 20, 'active:bit'],
  'channel.flow-ok': [20, 21, 'active:bit'],
  'access.request': [30, 10, 'realm:shortstr exclusive:bit passive:bit active:bit write:bit read:bit'],
  'access.request-ok': [30, 11, 'ticket:short'],
  'exchange.declare': [
    40,
    10,
    'ticket:short exchange:shortstr type:shortstr passive:bit durable:bit autoDelete:bit internal:bit nowait:bit arguments:table',
  ],
  'exchange.declare-ok': [40, 11, ''],
  'exchange.delete': [40, 20, 'ticket:short exchange:shortstr ifUnused:bit nowait:bit'],
  'exchange.delete-ok': [40, 21, ''],
  'exchange.bind': [
    40,
    30,
    'ticket:short destination:shortstr source:shortstr key:shortstr nowait:bit arguments:table',
  ],
  'exchange.bind-ok': [40, 31, ''],
  'exchange.unbind': [
    40,
    40,
    'ticket:short destination:shortstr source:shortstr key:shortstr nowait:bit arguments:table',
  ],
  'exchange.unbind-ok': [40, 51, ''],
  'queue.declare': [
    50,
    10,
    'ticket:short queue:shortstr passive:bit durable:bit exclusive:bit autoDelete:bit nowait:bit arguments:table',
  ],
  'queue.declare-ok': [50, 11, 'queue:shortstr messageCount:long consumerCount:long'],
  'queue.bind': [50, 20, 'ticket:short queue:shortstr exchange:shortstr key:shortstr nowait:bit arguments:table'],
  'queue.bind-ok': [50, 21, ''],
  'queue.purge': [50, 30, 'ticket:short queue:shortstr nowait:bit'],
  'queue.purge-ok': [50, 31, 'messageCount:long'],
  'queue.delete': [50, 40, 'ticket:short queue:shortstr ifUnused:bit ifEmpty:bit nowait:bit'],
  'queue.delete-ok': [50, 41, 'messageCount:long'],
  'queue.unbind': [50, 50, 'ticket:short queue:shortstr exchange:shortstr key:shortstr arguments:table'],
  'queue.unbind-ok': [50, 51, ''],
  'basic.qos': [60, 10, 'prefetchSize:long prefetchCount:short global:bit'],
  'basic.qos-ok': [60, 11, ''],
  'basic.consume': [
    60,
    20,
    'ticket:short queue:shortstr consumerTag:shortstr noLocal:bit noAck:bit exclusive:bit nowait:bit arguments:table',
  ],
  'basic.consume-ok': [60, 21, 'consumerTag:shortstr'],
  'basic.cancel': [60, 30, 'consumerTag:shortstr nowait:bit'],
  'basic.cancel-ok': [60, 31, 'consumerTag:shortstr'],
  'basic.publish': [60, 40, 'ticket:short exchange:shortstr key:shortstr mandatory:bit immediate:bit'],
  'basic.return': [60, 50, 'code:short text:shortstr exchange:shortstr key:shortstr'],
  'basic.deliver': [60, 60, 'consumerTag:shortstr deliveryTag:longlong redelivered:bit exchange:shortstr key:shortstr'],
  'basic.get': [60, 70, 'ticket:short queue:shortstr noAck:bit'],
  'basic.get-ok': [60, 71, 'deliveryTag:longlong redelivered:bit exchange:shortstr key:shortstr messageCount:long'],
  'basic.get-empty': [60, 72, 'reserved1:shortstr'],
  'basic.ack': [60, 80, 'deliveryTag:longlong multiple:bit'],
  'basic.reject': [60, 90, 'deliveryTag:longlong requeue:bit'],
  'basic.recover-async': [60, 100, 'requeue:bit'],
  'basic.recover': [60, 110, 'requeue:bit'],
  'basic.recover-ok': [60, 111, ''],
  'basic.nack': [60, 120, 'deliveryTag:longlong multiple:bit requeue:bit'],
  'basic.replace': [60, 200, 'deliveryTag:longlong'],
  'confirm.select': [85, 10, 'nowait:bit'],
  'confirm.select-ok': [85, 11, ''],
  'tx.select': [90, 10, ''],
  'tx.select-ok': [90, 11, ''],
  'tx.commit': [90, 20, ''],
  'tx.commit-ok': [90, 21, ''],
  'tx.rollback': [90, 30, ''],
  'tx.rollback-ok': [90, 31, ''],
};

interface Layout {
  readonly name: string;
  readonly classId: number;
  readonly methodId: number;
  readonly args: readonly (readonly [name: string, kind: Kind])[];
}

const byName = new Map<string, Layout>();
const byNumber = new Map<number, Layout>();
for (const [name, [classId, methodId, text]] of Object.entries(table)) {
  const args = text
    .split(' ')
    .filter(Boolean)
    .map((arg) => arg.split(':') as [string, Kind]);
  const layout: Layout = { name, classId, methodId, args };
  byName.set(name, layout);
  byNumber.set(classId * 65536 + methodId, layout);
}

/** Methods followed by a content header and a body. */
export const carriesContent: ReadonlySet<string> = new Set(['basic.return', 'basic.deliver', 'basic.get-ok']);

/** The payload of a method frame; what is not given is 0, '', false or an empty table. */
export function writeMethod(name: string, args: Arguments): Buffer {
  const layout = byName.get(name);
  if (layout === undefined) throw new Error(`unknown method ${name}`);
  const to = new Writer().short(layout.classId).short(layout.methodId);
  for (const [arg, kind] of layout.args) {
    const value = args[arg];
    if (kind === 'bit') to.bit(value === true);
    else if (kind === 'table') writeTable((value ?? new Map()) as FieldTable, to);
    else if (kind === 'longlong') to.int64((value ?? 0) as number);
    else if (kind === 'shortstr') to.shortstr((value ?? '') as string);
    else if (kind === 'longstr') to.longstr((value ?? '') as string);
    else to[kind]((value ?? 0) as number);
  }
  return to.end();
}

export function readMethod(payload: Buffer): Method {
  const from = new Reader(payload);
  const classId = from.short();
  const methodId = from.short();
  const layout = byNumber.get(classId * 65536 + methodId);
  if (layout === undefined) throw new Error(`unknown method ${classId}.${methodId}`);
  const args: Record<string, Argument> = {};
  for (const [arg, kind] of layout.args) {
    if (kind === 'table') args[arg] = readTable(from);
    else if (kind === 'longlong') args[arg] = Number(from.int64());
    else if (kind === 'longstr') args[arg] = from.longstr();
    else args[arg] = from[kind]();
  }
  return { name: layout.name, classId, methodId, args };
}
