// node test/management/record-shapes.mjs: records shapes/*.json from a real RabbitMQ 3.10.8 with its management plugin.
// AMQP_URL and RABBITMQ_MANAGEMENT_URL say where it is.
import { spawnSync } from 'node:child_process';

const {
  AMQP_URL: amqp = 'amqp://guest:guest@127.0.0.1:5672',
  RABBITMQ_MANAGEMENT_URL: url = 'http://127.0.0.1:15672',
} = process.env;
const ground = { amqp: amqp.replace(/\/$/, ''), http: new URL(url).origin };
const env = { ...process.env, RECORD_SHAPES: JSON.stringify(ground) };
const { status } = spawnSync('npx', ['vitest', 'run', 'test/management/shapes.spec.ts'], { env, stdio: 'inherit' });
spawnSync('npx', ['prettier', '--write', 'test/management/shapes'], { stdio: 'inherit' });
process.exitCode = status ?? 1;
