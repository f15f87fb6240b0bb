import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import amqplib from 'amqplib';
import type { Need } from '../workload.js';

export const url = process.env['AMQP_URL'] ?? 'amqp://guest:guest@127.0.0.1:5672';

/** A program that is measured beside this broker, if it is there. */
export interface Program {
  readonly name: string;
  /** How users get it. */
  readonly install: string;
  /** @returns undefined when it is not there */
  version(): Promise<string | undefined>;
}

export const programs: Readonly<Record<Need, Program>> = {
  redis: {
    name: 'Redis',
    install:
      'install redis-server (Debian and Ubuntu: apt-get install redis-server; macOS: brew install redis); the benchmark starts it itself',
    version: async () => /v=(\S+)/.exec(await outputOf('redis-server', '--version'))?.[1],
  },
  rabbitMq: {
    name: 'RabbitMQ',
    install:
      'start one on this machine (docker run -d --network host rabbitmq:4-management), or set AMQP_URL to the URL of another one',
    version: rabbitMqVersion,
  },
};

/** Empty if there is no such command. */
async function outputOf(command: string, ...args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)(command, args)).stdout;
  } catch {
    return '';
  }
}

async function rabbitMqVersion(): Promise<string | undefined> {
  try {
    const connection = await amqplib.connect(url, { timeout: 3_000 });
    const { product, version } = connection.connection.serverProperties;
    await connection.close();
    return `${product === 'RabbitMQ' ? '' : `${product} `}${version}`;
  } catch {
    return undefined;
  }
}
