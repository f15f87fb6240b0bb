import type { Field } from '../../libs/dlx-broker/src/engine/message/index.js';

/** A duration in units; how long a unit is, is decided when the program runs. */
export interface Units {
  readonly units: number;
}

export type Value = string | number | boolean | Units;
export type Values = Readonly<Record<string, Value>>;

/** The properties of a publish; `expiration` in units. */
export interface Sent {
  readonly expiration?: Units;
  readonly priority?: number;
  readonly deliveryMode?: number;
  readonly correlationId?: string;
  readonly messageId?: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, Field>>;
}

/** A delivery by a name that is the same on both brokers: its consumer or get, and its index there. */
export interface DeliveryName {
  readonly of: string;
  readonly nth: number;
}

interface OnChannel {
  readonly channel: number;
}

/** One action of a client, of an operator or of the clock. */
export type Step =
  | (OnChannel & {
      readonly do: 'declareExchange';
      readonly name: string;
      readonly type: string;
      readonly flags: Values;
      readonly args: Values;
    })
  | (OnChannel & { readonly do: 'declareQueue'; readonly name: string; readonly flags: Values; readonly args: Values })
  | (OnChannel & {
      readonly do: 'bindQueue' | 'unbindQueue' | 'bindExchange' | 'unbindExchange';
      readonly to: string;
      readonly from: string;
      readonly key: string;
      readonly args: Values;
    })
  | (OnChannel & { readonly do: 'deleteExchange'; readonly name: string; readonly flags: Values })
  | (OnChannel & { readonly do: 'deleteQueue'; readonly name: string; readonly flags: Values })
  | (OnChannel & { readonly do: 'purge'; readonly name: string })
  | (OnChannel & { readonly do: 'confirmSelect' | 'txSelect' | 'txCommit' | 'txRollback' })
  | (OnChannel & { readonly do: 'qos'; readonly prefetch: number; readonly global: boolean })
  | (OnChannel & {
      readonly do: 'publish';
      readonly exchange: string;
      readonly key: string;
      readonly bodies: readonly string[];
      readonly sent: Sent;
      readonly mandatory: boolean;
    })
  | (OnChannel & { readonly do: 'get'; readonly queue: string; readonly as: string; readonly noAck: boolean })
  | (OnChannel & {
      readonly do: 'consume';
      readonly queue: string;
      readonly as: string;
      readonly noAck: boolean;
      /** Set by a `basic.qos` just before; absent: whatever the channel's last one was. */
      readonly prefetch?: number;
      readonly args: Values;
    })
  | (OnChannel & { readonly do: 'cancel'; readonly consumer: string })
  | (OnChannel & {
      readonly do: 'settle';
      readonly how: 'ack' | 'nack' | 'reject';
      readonly delivery: DeliveryName;
      readonly multiple: boolean;
      readonly requeue: boolean;
    })
  | (OnChannel & { readonly do: 'recover' })
  | (OnChannel & { readonly do: 'close' })
  | {
      readonly do: 'setPolicy';
      readonly name: string;
      readonly operator: boolean;
      readonly pattern: string;
      readonly applyTo: 'queues' | 'exchanges' | 'all';
      readonly priority: number;
      readonly definition: Values;
    }
  | { readonly do: 'clearPolicy'; readonly name: string; readonly operator: boolean }
  | { readonly do: 'elapse'; readonly units: number }
  | { readonly do: 'drain'; readonly queue: string };

export type Program = readonly Step[];

export const isUnits = (value: unknown): value is Units =>
  typeof value === 'object' && value !== null && 'units' in value;

/** All queues and exchanges a program ever names as its own. */
export function namesIn(program: Program): { readonly queues: string[]; readonly exchanges: string[] } {
  const queues = new Set<string>();
  const exchanges = new Set<string>();
  for (const step of program) {
    if (step.do === 'declareQueue') queues.add(step.name);
    if (step.do === 'declareExchange') exchanges.add(step.name);
  }
  return { queues: [...queues].sort(), exchanges: [...exchanges].sort() };
}
