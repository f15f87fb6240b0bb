import { Inject, type InjectionToken } from '@nestjs/common';
import { DeadLetters, Redrives } from '../streams/index.js';
import { DlxBroker } from './broker.js';
import { DlxClient } from '../client/client.js';
import { DlxServer } from './server.js';
import { defaultBrokerName } from './options.js';

/** The token of a class: for the default broker the class itself, for a named broker a string. */
const token = (type: { readonly name: string } & InjectionToken, name: string): InjectionToken =>
  name === defaultBrokerName ? type : `${type.name}:${name}`;

/** The token by which the {@link DlxBroker} of this name is injected, or found by `app.get()`. */
export const getDlxBrokerToken = (name: string = defaultBrokerName): InjectionToken => token(DlxBroker, name);
/** The token by which the {@link DlxClient} of this name is injected, or found by `app.get()`. */
export const getDlxClientToken = (name: string = defaultBrokerName): InjectionToken => token(DlxClient, name);
/** The token by which the {@link DlxServer} of this name is injected, or found by `app.get()`. */
export const getDlxServerToken = (name: string = defaultBrokerName): InjectionToken => token(DlxServer, name);
/** The token by which the {@link DeadLetters} of this name is injected, or found by `app.get()`. */
export const getDeadLettersToken = (name: string = defaultBrokerName): InjectionToken => token(DeadLetters, name);
/** The token by which the {@link Redrives} of this name is injected, or found by `app.get()`. */
export const getRedrivesToken = (name: string = defaultBrokerName): InjectionToken => token(Redrives, name);

/** The token of the connection to the broker ({@link Connected}). A test may override it. */
export const getDlxConnectedToken = (name: string = defaultBrokerName): InjectionToken => `DlxConnected:${name}`;

/** Injects the {@link DlxBroker} of this name. */
export const InjectDlxBroker = (name?: string): ReturnType<typeof Inject> => Inject(getDlxBrokerToken(name));
/** Injects the {@link DlxClient} of this name. */
export const InjectDlxClient = (name?: string): ReturnType<typeof Inject> => Inject(getDlxClientToken(name));
/** Injects the {@link Redrives} of this name. */
export const InjectRedrives = (name?: string): ReturnType<typeof Inject> => Inject(getRedrivesToken(name));
/** Injects the stream of dead letters of this name. */
export const InjectDeadLetters = (name?: string): ReturnType<typeof Inject> => Inject(getDeadLettersToken(name));
