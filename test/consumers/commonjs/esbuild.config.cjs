// Joins an application, Nest and dlx-broker in one file. Nest asks for these packages only if they are used.
const optional = [
  '@nestjs/websockets*',
  '@nestjs/platform-*',
  '@grpc/*',
  'kafkajs',
  'mqtt',
  'nats',
  'ioredis',
  'amqp*',
];

require('esbuild').buildSync({
  entryPoints: ['dist/main.js'],
  bundle: true,
  platform: 'node',
  outfile: 'one/esbuild.cjs',
  external: [...optional, 'class-*', 'cache-manager'],
});
