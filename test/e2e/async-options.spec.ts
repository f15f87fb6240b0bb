import { Injectable, Module, type Type } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { NestFactory } from '@nestjs/core';
import {
  DlxBroker,
  type DlxBrokerAsyncOptions,
  DlxBrokerModule,
  type DlxBrokerOptions,
  type DlxBrokerOptionsFactory,
  DlxConfigurationError,
  embedded,
  getDlxToken,
  rabbitmq,
} from 'dlx-broker';
import { describe, expect, it } from 'vitest';
import { endsAfterEach } from '../harnesses/ends.js';

const ends = endsAfterEach();

/** Reads the environment, as the guide shows it. */
@Injectable()
class BrokerOptions implements DlxBrokerOptionsFactory {
  constructor(private readonly config: ConfigService) {}

  createDlxBrokerOptions(): DlxBrokerOptions {
    const url = this.config.get<string>('AMQP_URL');
    return {
      broker: url === undefined ? embedded() : rabbitmq({ urls: url, startAttempts: 1 }),
      prefetch: Number(this.config.get('PREFETCH', '10')),
      drainTimeout: this.config.get<string>('DRAIN_TIMEOUT', '20s'),
    };
  }
}

@Module({ providers: [BrokerOptions], exports: [BrokerOptions] })
class SettingsModule {}

type Source = Omit<DlxBrokerAsyncOptions, 'imports' | 'name'>;

/** Starts an application with this environment. */
async function start(
  environment: Readonly<Record<string, string>>,
  source: Source,
  more: readonly Type[] = [],
  name?: string,
) {
  const config = ConfigModule.forRoot({
    isGlobal: true,
    ignoreEnvFile: true,
    ignoreEnvVars: true,
    load: [() => environment],
  });
  const imports = [config, DlxBrokerModule.forRootAsync({ ...source, imports: [...more], ...(name && { name }) })];
  const app = await NestFactory.createApplicationContext(
    { module: class {}, imports },
    { logger: false, abortOnError: false },
  );
  ends.push(() => app.close());
  return app.get<DlxBroker>(getDlxToken(DlxBroker, name)).options;
}

const factory: Source = {
  inject: [ConfigService],
  useFactory: (config: ConfigService) => new BrokerOptions(config).createDlxBrokerOptions(),
};

describe('options of the environment', () => {
  it.each<[string, Source, readonly Type[]]>([
    ['useFactory', factory, []],
    ['useClass', { useClass: BrokerOptions }, []],
    ['useExisting', { useExisting: BrokerOptions }, [SettingsModule]],
  ])('by %s', async (_, source, imports) => {
    expect(await start({}, source, imports)).toMatchObject({ prefetch: 10, drainTimeout: 20_000 });
    const environment = { PREFETCH: '3', DRAIN_TIMEOUT: '1m' };
    expect(await start(environment, source, imports)).toMatchObject({ prefetch: 3, drainTimeout: 60_000 });
    expect(await start(environment, source, imports, 'audit')).toMatchObject({ name: 'audit', prefetch: 3 });
  });

  it.each<[Record<string, string>, string]>([
    [{ DRAIN_TIMEOUT: '20' }, "option 'drainTimeout' of DlxBrokerModule (broker 'default'): '20' has no unit"],
    [{ DRAIN_TIMEOUT: 'soon' }, "option 'drainTimeout'"],
    [{ PREFETCH: 'many' }, "option 'prefetch'"],
    [{ AMQP_URL: 'http://shop:s3cret@rabbit' }, "begins with 'http://'"],
    [{ AMQP_URL: 'rabbit:5672' }, 'has no scheme; write'],
    [{ AMQP_URL: 'no url s3cret' }, 'is no URL'],
  ])('that are no options are refused by their name: %j', async (environment, text) => {
    const failure = await start(environment, { useClass: BrokerOptions }).catch((error: Error) => error);
    expect(failure).toBeInstanceOf(DlxConfigurationError);
    expect((failure as Error).message).toContain(text);
    expect((failure as Error).message).not.toContain('s3cret');
  });
});

describe('what forRootAsync refuses', () => {
  class Empty {}

  it.each<[string, DlxBrokerAsyncOptions, string]>([
    ['several sources', { ...factory, useClass: BrokerOptions }, 'useFactory and useClass exclude one another'],
    ['none', {}, 'useFactory of forRootAsync of DlxBrokerModule'],
    ['no class', { useClass: 'BrokerOptions' as never }, 'is not a class'],
  ])('%s, at once', (_, options, text) => {
    const refused = () => DlxBrokerModule.forRootAsync(options);
    expect(refused).toThrow(DlxConfigurationError);
    expect(refused).toThrow(text);
  });

  it('a class that makes no options', async () => {
    await expect(start({}, { useClass: Empty as never })).rejects.toThrow(
      'what useClass names has no method createDlxBrokerOptions',
    );
  });

  it('options that have to be known before, and misspelt ones', async () => {
    class Early {
      createDlxBrokerOptions = (): object => ({ name: 'audit' });
    }
    class Misspelt {
      createDlxBrokerOptions = (): object => ({ prefecth: 1 });
    }
    await expect(start({}, { useClass: Early as never })).rejects.toThrow("useClass returned 'name'");
    await expect(start({}, { useClass: Misspelt as never })).rejects.toThrow("did you mean 'prefetch'?");
  });
});
