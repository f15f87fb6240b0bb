import { writeFrame } from '../contract/wire/frames.js';
import { type Arguments, readMethod, writeMethod } from '../contract/wire/methods.js';
import { RawPeer } from '../contract/wire/raw-peer.js';

/** A method frame. */
export const say = (channel: number, name: string, args: Arguments = {}): Buffer =>
  writeFrame(1, channel, writeMethod(name, args));

/** Sends all of it in one write. @returns what comes until a method of this kind; default: a close of the broker */
export async function heard(
  port: number,
  frames: readonly Buffer[],
  confirms: boolean,
  end = '.close',
): Promise<string[]> {
  const peer = await RawPeer.connect('127.0.0.1', port);
  const next = async () => readMethod((await peer.next()).payload);
  peer.send(Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]));
  await next();
  peer.send(say(0, 'connection.start-ok', { mechanism: 'PLAIN', response: '\0guest\0guest', locale: 'en_US' }));
  await next();
  peer.send(say(0, 'connection.tune-ok', { channelMax: 10, frameMax: 131_072, heartbeat: 0 }));
  for (const [channel, name, args] of [
    [0, 'connection.open', { vhost: '/' }],
    [1, 'channel.open', {}],
    ...(confirms ? ([[1, 'confirm.select', {}]] as const) : []),
  ] as const) {
    peer.send(say(channel, name, args));
    await next();
  }
  peer.send(Buffer.concat(frames));
  const log: string[] = [];
  for (let last = ''; !last.endsWith(end);) {
    const frame = await peer.next();
    if (frame.type !== 1) continue;
    const { name, args } = readMethod(frame.payload);
    log.push([name, args['code'] ?? args['deliveryTag'] ?? ''].join(' ').trim());
    last = name;
  }
  peer.socket.destroy();
  return log;
}
