import { randomBytes, randomUUID } from 'node:crypto';
import { longstr, type Properties } from 'dlx-broker/engine';

const ids = (): Properties => ({ messageId: randomUUID(), timestamp: Math.floor(Date.now() / 1_000) });

/** How the properties of messages differ: not at all, in UUID and timestamp, or also in a header. */
export const propertyKinds = {
  alike: (): Properties => ({}),
  ids,
  headers: (): Properties => ({ ...ids(), headers: new Map([['traceparent', longstr(traceparent())]]) }),
};

export type PropertyKind = keyof typeof propertyKinds;

const traceparent = (): string => `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;
