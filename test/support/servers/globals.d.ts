/** Which database the jest project of this run gives to its tests; see jest.config.js. Undefined in the other projects. */
declare const __DATABASE__: 'sqlite' | 'mariadb';
