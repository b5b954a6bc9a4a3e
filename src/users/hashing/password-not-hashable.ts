/** bcrypt would cut or misread this password, so it is refused instead of set (AUTH_400007). */
export class PasswordNotHashable extends Error {
  override readonly name = 'PasswordNotHashable';

  constructor() {
    super('a password has at most 72 bytes in UTF-8, no NUL and no lone surrogate');
  }
}
