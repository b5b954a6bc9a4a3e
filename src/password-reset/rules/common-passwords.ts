import { readFile } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import { caseFold } from '../../shared/case-fold';
import { loadOnce } from '../../shared/load-once';

/** Digits, punctuation, symbols and spaces at both ends, as in `Password-2026!`. */
const trimmings = /^[\p{Nd}\p{P}\p{S}\p{Z}]+|[\p{Nd}\p{P}\p{S}\p{Z}]+$/gu;
/** All entries of the list are of this form. */
const listed = /^[\x21-\x7e]+$/;

/**
 * The rule `forbid_common`: 49,000 passwords of @zxcvbn-ts/language-common (ADR 0023). A password is compared after case
 * folding, as it is and without the digits and signs at its ends. The latter counts only if more than half of the
 * password remains: `Password-2026!` is refused, and `Monkey 4711 0815 1234` is not.
 */
@Injectable()
export class CommonPasswords {
  async includes(password: string): Promise<boolean> {
    const folded = caseFold(password);
    const core = folded.replace(trimmings, '');
    const forms = core.length * 2 > folded.length ? [folded, core] : [folded];
    const lines = await this.lines();
    return forms.some((form) => listed.test(form) && lines.includes(`\n${form}\n`));
  }

  /**
   * The list, read with the first password that is judged. One text of 0.4 MB: the module of the package would keep
   * 2.4 MB of strings. A search takes 0.3 ms, a thousandth of the hash that follows.
   */
  private readonly lines = loadOnce(async () => {
    const text = await readFile(require.resolve('@zxcvbn-ts/language-common/src/passwords.json'), 'utf8');
    return `\n${(JSON.parse(text) as string[]).join('\n')}\n`;
  });
}
