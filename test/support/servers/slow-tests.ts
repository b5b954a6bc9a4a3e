// Tests with processes need longer. Jest reads `testTimeout` only for all projects together (jest.config.js).
jest.setTimeout(600_000);
