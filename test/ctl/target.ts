import { execFile } from 'node:child_process';
import { type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { runCtl } from '../../libs/dlx-broker/src/cli/ctl/index.js';

/** What a command line came to. */
export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

/** A program that runs command lines of rabbitmqctl, and the broker behind it. */
export interface Target {
  readonly name: string;
  /** AMQP, for what has to be there. */
  readonly amqp: string;
  /** Milliseconds until it has to know its own numbers. */
  readonly timeout: number;
  run(words: readonly string[], stdin?: string): Promise<Outcome>;
}

const text = (outcome: readonly string[]): string => outcome.map((line) => `${line}\n`).join('');

/** Our ctl over a management API. */
export const ours = (name: string, url: string, amqp: string): Target => ({
  name,
  amqp,
  timeout: 0,
  async run(words, stdin = '') {
    const out: string[] = [];
    const errors: string[] = [];
    const code = await runCtl(words, {
      env: { DLX_BROKER_URL: url },
      version: '3.10.8',
      out: (line) => void out.push(line),
      error: (line) => void errors.push(line),
      stdin: async () => stdin,
    });
    return { code, out: text(out), errors: text(errors) };
  },
});

/** The real one. It can only do what its node, on this machine, lets it. */
export const rabbitmqctl = (amqp: string): Target => ({
  name: 'rabbitmqctl',
  amqp,
  timeout: 0,
  run: (words, stdin = '') =>
    new Promise((resolve) => {
      const child = execFile('rabbitmqctl', [...words], { maxBuffer: 1e8 }, (error, out, errors) => {
        resolve({ code: error === null ? 0 : Number(error.code), out, errors });
      });
      child.stdin?.end(stdin);
    }),
});

/** A client of a target's broker, in one of its virtual hosts. */
export async function client(target: Target, vhost: string, name = 'scene'): Promise<[ChannelModel, ConfirmChannel]> {
  const connection = await connect(`${target.amqp}/${encodeURIComponent(vhost)}`, {
    clientProperties: { connection_name: name },
  });
  connection.on('error', () => undefined);
  return [connection, await connection.createConfirmChannel()];
}
