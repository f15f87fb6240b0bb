// Joins an application, Nest and dlx-broker in one file. Nest asks for these packages only if they are used.
const optional = /^(@nestjs\/(websockets|platform-.+)|@grpc\/|kafkajs|mqtt|nats|ioredis|amqp|class-|cache-manager)/;

module.exports = {
  mode: 'production',
  target: 'node',
  entry: './dist/main.js',
  output: { path: `${__dirname}/one`, filename: 'webpack.cjs' },
  externals: [({ request }, done) => (optional.test(request) ? done(null, `commonjs ${request}`) : done())],
  optimization: { minimize: false },
  performance: false,
};
