// Loaded before the program (node --import). The package of the LDAP client is missing.
import Module from 'node:module';

const load = Module._load;
Module._load = function (request, ...given) {
  if (!request.includes('passport-ldapauth')) return load.call(this, request, ...given);
  throw Object.assign(new Error('not installed'), { code: 'MODULE_NOT_FOUND' });
};
