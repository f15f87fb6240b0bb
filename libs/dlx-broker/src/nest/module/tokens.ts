import { Inject, type InjectionToken } from '@nestjs/common';
import { DlxClient } from '../client/client.js';
import { DeadLetters, Redrives } from '../streams/index.js';
import { DlxBroker } from './broker.js';
import { defaultBrokerName } from './options.js';
import { DlxServer } from './server.js';

/** The classes that each broker of an application provides. */
type DlxPart = typeof DlxBroker | typeof DlxClient | typeof DlxServer | typeof DeadLetters | typeof Redrives;

/**
 * The token by which a part of a broker is injected, or found by `app.get()`: `getDlxToken(DlxClient, 'audit')`. For the default broker it
 * is the class itself.
 */
export const getDlxToken = (part: DlxPart, name: string = defaultBrokerName): InjectionToken =>
  name === defaultBrokerName ? part : `${part.name}:${name}`;

/** Injects a part of a broker: `@InjectDlx(DlxClient, 'audit')`. */
export const InjectDlx = (part: DlxPart, name?: string): ReturnType<typeof Inject> => Inject(getDlxToken(part, name));

/** The token of the connection to the broker ({@link Connected}). A test may override it. */
export const getDlxConnectedToken = (name: string = defaultBrokerName): InjectionToken => `DlxConnected:${name}`;
