/** The database of the current jest project (jest.config.js). Undefined in projects without a database. */
declare const __DATABASE__: 'sqlite' | 'mariadb';
/** Tests of the whole application start it with everything on (test/support/everything.ts). Else undefined. */
declare const __PROFILE__: 'everything' | undefined;
