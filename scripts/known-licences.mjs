/**
 * Licences of packages whose lock file entry names none, read from the file that docs/licences.md names. The first
 * one is a part of this repository.
 */
export const knownLicences = {
  '@portal-auth/bcrypt-pair': 'UNLICENSED',
  'compute-gcd': 'MIT',
  'compute-lcm': 'MIT',
  'passport-strategy': 'MIT',
  pause: 'MIT',
  precond: 'MIT',
  'validate.io-function': 'MIT',
  'validate.io-integer': 'MIT',
  'validate.io-integer-array': 'MIT',
  'validate.io-number': 'MIT',
};
