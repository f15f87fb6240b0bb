// The same with ts-jest for the application's own files.
const config = require('./jest.config.cjs');

module.exports = { ...config, transform: { ...config.transform, '^.+\\.ts$': 'ts-jest' } };
