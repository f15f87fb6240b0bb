import config from './jest.config.js';

// The same with ts-jest.
export default { ...config, transform: { '^.+\\.ts$': ['ts-jest', { useESM: true }] } };
