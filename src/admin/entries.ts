import { isPlainText, plainTextRule } from '../shared/plain-text';

/** An entry that cannot be stored or done as given. The message is one line for a person. */
export class EntryProblem extends Error {
  override readonly name = 'EntryProblem';

  constructor(
    readonly field: 'id' | 'name' | 'from' | 'to',
    message: string,
  ) {
    super(message);
  }
}

/** There is no such tenant, unit, mail or event in the scope of the caller. */
export class EntryNotFound extends Error {
  override readonly name = 'EntryNotFound';
}

/** Ids are part of paths, tokens and commands, so they have no spaces and no letters that look alike. */
export function assertEntryId(id: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(id)) {
    throw new EntryProblem(
      'id',
      'the id must have 1 to 64 letters, digits, dots, dashes or underscores, a letter or digit first',
    );
  }
}

/** The form in which a name is stored. @throws EntryProblem */
export function entryName(text: string): string {
  const name = text.trim();
  if (name === '' || name.length > 255 || !isPlainText(name)) {
    throw new EntryProblem('name', `the name must have 1 to 255 characters and ${plainTextRule}`);
  }
  return name;
}
