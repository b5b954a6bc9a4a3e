import { foreignHashOf } from './foreign-hash';

type Spelling = readonly [form: RegExp, stored: (...parts: string[]) => string];

const number = '([1-9]\\d{0,9})';
/** Django keeps the salt as text, and the key in base64 with its padding. */
const djangoSalt = '([^$]{1,64})';
const djangoKey = '([A-Za-z0-9+/]+)={0,2}';
const text = (salt: string) => Buffer.from(salt).toString('base64').replace(/=+$/, '');
/** passlib writes `.` for `+` in the hashes of PBKDF2. */
const plain = (base64: string) => base64.replaceAll('.', '+');

const spellings: readonly Spelling[] = [
  [
    new RegExp(`^pbkdf2_sha256\\$${number}\\$${djangoSalt}\\$${djangoKey}$`),
    (i, salt, key) => `$pbkdf2-sha256$i=${i}$${text(salt)}$${key}`,
  ],
  [
    new RegExp(`^scrypt\\$${number}\\$${djangoSalt}\\$${number}\\$${number}\\$${djangoKey}$`),
    // A block count that is no power of two has no `ln`. The text then has no known form.
    (n, salt, r, p, key) => `$scrypt$ln=${Math.log2(Number(n))},r=${r},p=${p}$${text(salt)}$${key}`,
  ],
  [/^argon2(\$argon2id\$.*)$/, (hash) => hash],
  [/^bcrypt\$(\$2[aby]\$.*)$/, (hash) => hash],
  [
    new RegExp(`^\\$pbkdf2-(sha256|sha512)\\$${number}\\$([A-Za-z0-9./]+)\\$([A-Za-z0-9./]+)$`),
    (digest, i, salt, key) => `$pbkdf2-${digest}$i=${i}$${plain(salt)}$${plain(key)}`,
  ],
];

/**
 * The form in which a hash is stored and verified. Django and passlib write some hashes in a form of their own, which has
 * the same numbers, salt and key (docs/operations/adoption.md#hashes). A text of any other form comes back as it is.
 */
export function storedForm(hash: string): string {
  if (foreignHashOf(hash) !== undefined) return hash;
  for (const [form, stored] of spellings) {
    const match = form.exec(hash);
    if (match !== null) return stored(...match.slice(1));
  }
  return hash;
}
