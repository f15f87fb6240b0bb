import type { InjectionToken } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { DlxConfigurationError, nearestWord } from '../../platform/options/index.js';
import { defaultBrokerName } from './options.js';

const prefix = 'DlxBrokerOptions:';

/** The injection token of the options of a broker. Each `forRoot` provides one. */
export const optionsToken = (name: string = defaultBrokerName): InjectionToken => `${prefix}${name}`;

/** The names of the brokers of an application, one for each `forRoot`. */
const brokerNames = (modules: ModulesContainer): readonly string[] =>
  [...modules.values()]
    .flatMap(({ providers }) => [...providers.keys()])
    .filter((token): token is string => typeof token === 'string' && token.startsWith(prefix))
    .map((token) => token.slice(prefix.length));

/**
 * @param asked the name of the broker that a handler or a module asks for
 * @param origin where it is asked for, for the error
 * @throws DlxConfigurationError when the application has no broker of this name: its handlers would get no messages
 */
export function refuseUnknownBroker(modules: ModulesContainer, asked: string, origin: string): void {
  const names = brokerNames(modules);
  if (names.includes(asked)) return;
  const isDefault = asked === defaultBrokerName;
  const root = `write imports: [DlxBrokerModule.forRoot(${isDefault ? '' : `{ name: '${asked}' }`})] in the root module`;
  if (names.length === 0) throw new DlxConfigurationError(`${origin}: the application has no broker; ${root}`);
  const meant = nearestWord(asked, names);
  const known = names.map((name) => `'${name}'`).join(', ');
  throw new DlxConfigurationError(
    `${origin}: there is no broker '${asked}'; ${meant === undefined ? '' : `did you mean '${meant}'? `}` +
      `there are ${known}: name one of them by the option broker, or ${root}`,
  );
}
