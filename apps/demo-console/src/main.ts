import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DlxBroker, DlxBrokerModule, DlxClient, sharedBroker } from 'dlx-broker';
import { Goods } from './goods.js';
import { Money } from './money.js';
import { choosePort } from './port.js';
import { setPolicies, topology, users } from './topology.js';
import { Traffic } from './traffic.js';
import { broker } from './world.js';

const port = await choosePort(process.argv.slice(2), process.env).catch(fail);

@Module({
  imports: [
    DlxBrokerModule.forRoot({
      broker: sharedBroker(broker),
      topology,
      logFailures: 'none',
    }),
  ],
  providers: [Money, Goods],
})
class Shop {}

/** The port, which opens after the simulated day: it counts what happens per second of real time. */
@Module({
  imports: [
    DlxBrokerModule.forRoot({ broker: sharedBroker(broker, { listen: { http: { port, edits: true }, users } }) }),
  ],
})
class Console {}

// Before the shop opens: the library warns of an application that SIGTERM ends at once.
let end = (): void => process.exit();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => end());

console.log('Opening the shop ...');
const logger = ['error', 'fatal', 'warn'] as const;
const open = (module: typeof Shop) =>
  NestFactory.createApplicationContext(module, { logger: [...logger], abortOnError: false }).catch(fail);
const app = await open(Shop);
setPolicies(broker);
const traffic = new Traffic(app.get(DlxClient));
await traffic.simulateDay((share) => console.log(`A day of the shop in virtual time: ${Math.round(share * 100)} %`));
traffic.start();

const served = await open(Console);
const { http } = served.get(DlxBroker);
const waiting = [...broker.virtualHost('/').queues].filter(([name]) => /\.(dead|parked)$/.test(name));
const letters = waiting.reduce((sum, [, queue]) => sum + queue.length, 0);
console.log(`${letters} dead letters in ${waiting.length} queues; traffic goes on until you press Ctrl+C.`);
console.log(`
The console:  http://${http?.host}:${http?.port}/
  guest  / guest   may do everything
  viewer / viewer  may only look
`);

async function close(): Promise<void> {
  traffic.close();
  await served.close();
  await app.close();
  traffic.stop();
  broker.close();
  console.log('The shop is closed.');
}

/** Such as a port that is taken. */
function fail(error: Error): never {
  console.error(`demo:console: ${error.message}`);
  process.exit(1);
}

end = () => void close();
