// The configuration of a new application of Nest 11.
module.exports = { testEnvironment: 'node', transform: { '^.+\\.(t|j)s$': 'ts-jest' } };
