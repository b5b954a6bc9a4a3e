/** Stands in for the event streams of the generated client in the build of the pages: the service has none (vite.config.ts). */
export const createSseClient = undefined;
