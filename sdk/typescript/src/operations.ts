/** The generated operations and types alone, for callers that bring their own rules. */
export * from './generated/index.js';
export { createClient, createConfig } from './generated/client/index.js';
