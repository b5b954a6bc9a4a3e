/** Only the generated operations and types, for callers that do not want the state machine. */
export * from './generated/index.js';
export { createClient, createConfig } from './generated/client/index.js';
