/** The database of the current jest project (jest.config.js). Undefined in projects without a database. */
declare const __DATABASE__: 'sqlite' | 'mariadb';
